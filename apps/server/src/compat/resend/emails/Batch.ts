import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as Violations from "@waybill/api/errors/Violations"
import { type BatchAnswer, MAX_BATCH } from "@waybill/api/schemas/send/Batch"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import { Effect, Result, Schema } from "effect"
import { decodeBody } from "../../decodeBody.ts"
import { entriesOf } from "../../entriesOf.ts"
import type { DoorRequest, Route } from "../../Door.ts"
import * as Native from "../../Native.ts"
import * as Respelling from "../../Respelling.ts"
import { route } from "../../route.ts"
import * as RemoteFile from "../../RemoteFile.ts"
import * as Draft from "./Draft.ts"
import * as ResendMessage from "./ResendMessage.ts"

/** A message that is refused, by its place in the batch. */
interface Failure {
  readonly index: number
  readonly refusal: RequestRefusal.InvalidRequest
}
interface Entry<A> {
  readonly index: number
  readonly value: A
}

/** Takes a bare array. In permissive mode the emails that were refused are listed by index. */
const batch = route(
  "POST /emails/batch",
  { endpoint: "emails.sendBatch", ownBody: ResendMessage.Batch },
  function* ({ body, headers }) {
    const mode = yield* validationOf(headers["x-batch-validation"])
    const items = yield* entriesOf(body, MAX_BATCH, "messages")
    const failures: Array<Failure> = []
    const drafts = yield* translate(items, failures)
    // The messages that need no file are checked too, because nothing is fetched for a batch that is refused anyway.
    const fetches = drafts.some(({ value }) => value.files.length > 0)
    const places = RemoteFile.budget()
    const checked = fetches
      ? yield* each(drafts, failures, (draft) => Effect.as(Draft.check(draft, places), draft))
      : drafts
    if (mode === "all_or_nothing") yield* refuseAll(failures)
    const budget = RemoteFile.budget()
    const emails = yield* each(checked, failures, (draft) => Draft.complete(draft, budget))
    if (mode === "all_or_nothing") yield* refuseAll(failures)
    const bodies = emails.map(({ value }) => value)
    const answers = bodies.length === 0 && failures.length > 0 ? [] : yield* send(bodies, mode, headers)
    const data = answers.flatMap(({ id }) => (id === null ? [] : [{ id }]))
    if (mode === "all_or_nothing") return Native.ok({ data })
    const refused = answers.flatMap(({ error, index }) =>
      error === null ? [] : [{ index: emails[index]?.index ?? index, message: error.message }],
    )
    const errors = [...failures.map(({ index, refusal }) => ({ index, message: refusal.message })), ...refused]
    return Native.ok({ data, errors: errors.sort((one, other) => one.index - other.index) })
  },
)

const translate = (items: ReadonlyArray<unknown>, failures: Array<Failure>) =>
  each(
    items.map((value, index) => ({ index, value })),
    failures,
    (item) => Effect.flatMap(decodeBody(ResendMessage.Message, item), Draft.make),
  )

/** Continues with the entries that succeed, and collects the failures of the others. Without memory or the database none can go on. */
const each = Effect.fnUntraced(function* <
  A,
  B,
  E extends RequestRefusal.InvalidRequest | RequestRefusal.Overloaded | StoreUnavailable,
  R,
>(entries: ReadonlyArray<Entry<A>>, failures: Array<Failure>, step: (value: A) => Effect.Effect<B, E, R>) {
  const done: Array<Entry<B>> = []
  for (const { index, value } of entries) {
    // Other requests get a turn between two messages.
    yield* Effect.yieldNow
    const result = yield* Effect.result(step(value))
    if (Result.isSuccess(result)) done.push({ index, value: result.success })
    else if (result.failure._tag !== "InvalidRequest") return yield* result.failure
    else failures.push({ index, refusal: inBatch(index, result.failure) })
  }
  return done
})

const refuseAll = (failures: ReadonlyArray<Failure>) => {
  const { details, more } = Violations.join(
    failures.map(({ refusal }) => ({ details: refusal.details, unknown: undefined, more: refusal.more ?? 0 })),
  )
  return failures.length === 0
    ? Effect.void
    : Effect.fail(new RequestRefusal.InvalidRequest({ reason: "validation_failed", details, more }))
}

/** Our own batch has its emails in a field. */
const asBareArray = Respelling.respelled((path) => path.replace(/^emails(?=\[)/u, ""))

const send = (emails: ReadonlyArray<unknown>, mode: string, headers: DoorRequest["headers"]) =>
  Native.post<BatchAnswer>("/v1/email/send/batch", headers, { emails, mode }).pipe(
    asBareArray,
    Effect.map(({ data }) => data),
  )

const inBatch = (index: number, { details, more = 0 }: RequestRefusal.InvalidRequest) =>
  new RequestRefusal.InvalidRequest({
    reason: "validation_failed",
    details: details.map((each) => ({ ...each, path: `[${index}]${each.path === "" ? "" : `.${each.path}`}` })),
    more,
  })

const Validation = Schema.Literals(["strict", "permissive"])

const validationOf = (header: string | undefined) =>
  Effect.map(
    decodeBody(Schema.Struct({ "x-batch-validation": Validation }), { "x-batch-validation": header ?? "strict" }),
    (decoded) => (decoded["x-batch-validation"] === "strict" ? "all_or_nothing" : "permissive"),
  )

export const routes: ReadonlyArray<Route> = [batch]
