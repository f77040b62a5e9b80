import * as IsoDuration from "@waybill/domain/clock/IsoDuration"
import * as TestClock from "@waybill/domain/clock/TestClock"
import * as TestClockLimits from "@waybill/domain/clock/TestClockLimits"
import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as ApiError from "../errors/ApiError.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { annotate } from "../middleware/annotate.ts"
import * as Idempotency from "../schemas/Idempotency.ts"
import { optional } from "../schemas/optional.ts"
import * as Page from "../schemas/Page.ts"
import { Validation } from "../middleware/Validation.ts"

/** Seconds that an advance is waited for before it is answered with the status `advancing`. */
export const ANSWER_WITHIN_SECONDS = 20

const at = Timestamp.Timestamp

export const TestClockRecord = Schema.Struct({
  object: Schema.Literal("test_clock"),
  id: Id.TestClockId,
  name: Schema.NullOr(Schema.String),
  now: at,
  status: Schema.Literals(["ready", "advancing"]).annotate({
    description: "`advancing` while an advance does what is due; `ready` once all of it is done",
  }),
  advancing_to: Schema.NullOr(at).annotate({ description: "Target of the advance in progress" }),
  stopped: Schema.NullOr(TestClock.Stopped).annotate({
    description: "Limit that ended the last advance before its target; `null` if it reached the target",
  }),
  created_at: at,
  created_by: Schema.NullOr(Schema.String),
}).annotate({
  identifier: "TestClock",
  description: "A clock for test mail. `now` is the time that it shows, which moves while the clock advances",
})
export type TestClockRecord = typeof TestClockRecord.Type

const Deleted = Schema.Struct({
  object: Schema.Literal("test_clock"),
  id: Id.TestClockId,
  deleted: Schema.Literal(true),
}).annotate({ identifier: "TestClockDeleted" })

const Advance = Schema.Struct({
  by: optional(IsoDuration.FromIso, "How far to advance, as an ISO 8601 duration"),
  to: optional(Timestamp.FromIso, "The time to advance to; not earlier than `now` of the clock"),
})
  .check(Schema.makeFilter(({ by, to }) => (by === null) !== (to === null) || "takes either `by` or `to`"))
  .annotate({ identifier: "TestClockAdvance" })

const params = { id: Id.TestClockId }
const path = "/test/clocks"

export class TestClocks extends HttpApiGroup.make("testClocks")
  .add(
    HttpApiEndpoint.get("list", path, { success: Page.of(TestClockRecord) }).annotateMerge(
      annotate("List test clocks", "email:send", "All test clocks of the account, newest first."),
    ),
    HttpApiEndpoint.post("create", path, {
      headers: Idempotency.headers,
      payload: Schema.Struct({
        name: optional(TestClock.Name, "For people"),
        now: optional(Timestamp.FromIso, "The time that the clock shows first; real time by default"),
      }).annotate({ identifier: "TestClockCreation" }),
      success: Idempotency.replayable(TestClockRecord.pipe(HttpApiSchema.status(201))),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Create a test clock",
        "email:send",
        `Mail that is sent with the header \`X-Waybill-Test-Clock\` lives on the time of this clock: its schedule, retries, webhook retries and expiry wait until the clock is advanced. An account has at most ${TestClockLimits.MAX_CLOCKS} test clocks, else 422 \`too_many_test_clocks\`.`,
      ),
    ),
    HttpApiEndpoint.get("get", `${path}/:id`, { params, success: TestClockRecord }).annotateMerge(
      annotate("Get a test clock", "email:send", "The time that it shows, and whether it advances."),
    ),
    HttpApiEndpoint.post("advance", `${path}/:id/advance`, {
      params,
      headers: Idempotency.headers,
      payload: Advance,
      success: Idempotency.replayable(TestClockRecord),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Advance a test clock",
        "email:send",
        `Moves the clock forward and does what becomes due, in the order of its times; each event has the time of the clock. Answers once all of it is done, or after ${ANSWER_WITHIN_SECONDS} seconds with the status \`advancing\`: poll the clock until it is \`ready\`. One request advances by at most ${TestClockLimits.MAX_ADVANCE_DAYS} days, else 422 \`advance_too_far\`; an advance ends early after ${TestClockLimits.MAX_STEPS} different times or ${TestClockLimits.MAX_ADVANCE_MINUTES} minutes.`,
      ),
    ),
    HttpApiEndpoint.delete("remove", `${path}/:id`, { params, success: Deleted }).annotateMerge(
      annotate(
        "Delete a test clock",
        "email:send",
        "Mail that still waits on the clock fails with the category `test_clock_deleted`.",
      ),
    ),
  )
  .middleware(Validation)
  .middleware(Authorization)
  .annotateMerge(
    OpenApi.annotations({ title: "Test clocks", description: "Time for test mail that moves when a test says so." }),
  ) {}
