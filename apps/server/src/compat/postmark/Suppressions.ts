import * as Checks from "@waybill/api/schemas/Checks"
import * as Page from "@waybill/api/schemas/Page"
import type { SuppressionRecord } from "@waybill/api/groups/Suppressions"
import { Effect, Schema } from "effect"
import * as Words from "../../webhookFormats/PostmarkWords.ts"
import type { NativeApi, NativeError, Route } from "../Door.ts"
import * as Native from "../Native.ts"
import { route } from "../route.ts"
import * as Filters from "./Filters.ts"
import * as Paging from "./Paging.ts"

/** Maximum number of addresses that one request adds or removes, as in Postmark. */
export const MAX_ADDRESSES = 50
/** Maximum number of suppressions in a dump, which has no pages. */
export const MAX_DUMP = 10_000

const PATH = "/message-streams/:stream/suppressions"

const REASONS: ReadonlyArray<string> = ["HardBounce", "ManualSuppression", "SpamComplaint"]
/** Waybill has no suppressions of the origin Admin. */
const ORIGINS: ReadonlyArray<string> = ["Customer", "Recipient", "Admin"]

/** Clients send `count` and `offset` with every list; Postmark's dump has no pages, and neither has this one. */
const dump = route(
  `GET ${PATH}/dump`,
  {
    endpoint: "suppressions.list",
    query: ["count", "offset", "suppressionreason", "origin", "emailaddress", "fromdate", "todate"],
  },
  function* ({ query }, { stream = "" }) {
    yield* Filters.checkStreamName(stream)
    const after = yield* Paging.from(query)
    const before = yield* Paging.until(query)
    const reason = query.get("suppressionreason")
    const origin = query.get("origin")
    const address = query.get("emailaddress")
    if (reason !== null && !REASONS.includes(reason))
      return yield* Native.refuse("SuppressionReason", `must be one of ${REASONS.join(", ")}`)
    if (origin !== null && !ORIGINS.includes(origin))
      return yield* Native.refuse("Origin", `must be one of ${ORIGINS.join(", ")}`)
    const records = address === null ? yield* all(after) : yield* one(address)
    const entries = records
      .filter(({ created_at }) => (after ?? "") <= created_at && (before === undefined || created_at < before))
      .map(({ created_at, email, reason }) => ({
        EmailAddress: email,
        ...Words.SUPPRESSIONS[reason],
        CreatedAt: created_at,
      }))
      .filter((entry) => reason === null || entry.SuppressionReason === reason)
      .filter((entry) => origin === null || entry.Origin === origin)
    return Native.ok({ Suppressions: entries })
  },
)

/** Reads the suppressions from the newest to those before a time. */
const all = Effect.fnUntraced(function* (after: string | undefined) {
  const records: Array<SuppressionRecord> = []
  const query = new URLSearchParams({ limit: String(Page.MAX_LIMIT) })
  for (;;) {
    const page = yield* Native.get<Native.List<SuppressionRecord>>(`/v1/suppressions?${query}`)
    records.push(...page.data)
    const oldest = records.at(-1)?.created_at ?? ""
    if (page.next_cursor === null || (after !== undefined && oldest < after)) return records
    if (records.length >= MAX_DUMP)
      return yield* Native.refuse("fromdate", `must limit the dump: there are more than ${MAX_DUMP} suppressions`)
    query.set("after", page.next_cursor)
  }
})

const one = (address: string) =>
  Native.get<SuppressionRecord>(Native.path`/v1/suppressions/${address}`).pipe(
    Effect.map((record) => [record]),
    Effect.catchIf(
      ({ status }) => status === 404,
      () => Effect.succeed([]),
    ),
  )

const Addresses = Schema.Struct({
  Suppressions: Schema.Array(Schema.Struct({ EmailAddress: Schema.String })).check(
    Checks.items(1, MAX_ADDRESSES, "addresses"),
  ),
})

/** Makes a route that changes addresses one by one, with a result for each. `isDone` is a refusal that changes nothing. */
const change = (
  path: string,
  endpoint: Route["endpoint"],
  done: string,
  isDone: string,
  call: (address: string) => Effect.Effect<unknown, NativeError, NativeApi>,
) =>
  route(`POST ${PATH}${path}`, { endpoint, body: Addresses }, function* ({ body }, { stream = "" }) {
    yield* Filters.checkStreamName(stream)
    const results = yield* Effect.forEach(body.Suppressions, ({ EmailAddress }) =>
      call(EmailAddress).pipe(
        Effect.as({ EmailAddress, Status: done, Message: null as string | null }),
        Effect.catchIf(
          ({ reason }) => reason === isDone,
          () => Effect.succeed({ EmailAddress, Status: done, Message: null }),
        ),
        Effect.catchIf(isAboutAddress, ({ details }) =>
          Effect.succeed({ EmailAddress, Status: "Failed", Message: details[0]?.message ?? "is not an address" }),
        ),
      ),
    )
    return Native.ok({ Suppressions: results })
  })

/** Other refusals concern the whole request, such as a key without the scope. An address in a path is checked as one. */
const isAboutAddress = ({ reason, status }: NativeError): boolean =>
  status === 400 || ["route_not_found", "malformed_id"].includes(reason)

const add = change("", "suppressions.add", "Suppressed", "already_suppressed", (email) =>
  Native.post("/v1/suppressions", {}, { email }),
)

const remove = change("/delete", "suppressions.remove", "Deleted", "suppression_not_found", (email) =>
  Native.remove(Native.path`/v1/suppressions/${email}`),
)

export const routes: ReadonlyArray<Route> = [dump, add, remove]
