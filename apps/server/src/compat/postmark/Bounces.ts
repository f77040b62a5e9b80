import type { EmailRecord } from "@waybill/api/schemas/EmailRecord"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect, identity } from "effect"
import type { Route } from "../Door.ts"
import * as Native from "../Native.ts"
import { route } from "../route.ts"
import * as Bounce from "../../webhookFormats/PostmarkBounce.ts"
import * as Filters from "./Filters.ts"
import * as Paging from "./Paging.ts"
import * as Refusals from "./Refusals.ts"

type BounceRecord = ReturnType<typeof Bounce.all>[number]

const list = route(
  "GET /bounces",
  { endpoint: "logs.list", query: [...Filters.LIST, "type", "inactive", "emailfilter", "tag", "messageid"] },
  function* ({ query }) {
    yield* Filters.checkStream(query)
    const range = yield* Paging.rangeOf(query)
    const isWanted = yield* filterOf(query)
    const of = (record: EmailRecord) => Bounce.all(record).filter(isWanted)
    const id = query.get("messageid")
    if (id !== null) {
      const bounces = of(yield* Native.get<EmailRecord>(Native.path`/v1/email/logs/${id}`))
      const Bounces = bounces.slice(range.offset, range.offset + range.count)
      return Native.ok({ TotalCount: bounces.length, Bounces })
    }
    const filters = Filters.native({
      recipient_status: Bounce.STATUSES.join(","),
      tag: query.get("tag"),
      created_before: yield* Paging.until(query),
    })
    const found = yield* Filters.respelled(Paging.read("/v1/email/logs", filters, range, of, identity))
    return Native.ok({ TotalCount: found.total, Bounces: found.entries })
  },
)

/** Returns the filters that our own list of emails does not have. */
const filterOf = Effect.fnUntraced(function* (query: URLSearchParams) {
  const type = query.get("type")
  if (type !== null && !Bounce.TYPES.includes(type))
    return yield* Native.refuse("type", `must be one of ${Bounce.TYPES.join(", ")}`)
  const inactive = query.get("inactive")
  if (inactive !== null && inactive !== "true" && inactive !== "false")
    return yield* Native.refuse("inactive", "must be true or false")
  const address = query.get("emailfilter")?.toLowerCase() ?? ""
  const tag = query.get("tag")
  const after = yield* Paging.from(query)
  const before = yield* Paging.until(query)
  return (bounce: BounceRecord): boolean =>
    (type === null || bounce.Type === type) &&
    (inactive === null || bounce.Inactive === (inactive === "true")) &&
    (tag === null || bounce.Tag === tag) &&
    bounce.Email.toLowerCase().includes(address) &&
    (after === undefined || bounce.BouncedAt >= after) &&
    (before === undefined || bounce.BouncedAt < before)
})

/** Messages of one second in which a bounce is looked for. */
export const MAX_SEARCHED = 1_000
const PAGE = 100

/** Returns a bounce by its id, among those of the second that the id names. Two of the same id are none. */
const find = Effect.fnUntraced(function* (id: string) {
  const second = Bounce.secondOf(id)
  if (second === undefined) return yield* new Refusals.BounceNotFound()
  const filters = Filters.native({
    recipient_status: Bounce.STATUSES.join(","),
    created_after: Timestamp.fromMillis(second),
    created_before: Timestamp.fromMillis(second + 1_000),
    limit: String(PAGE),
  })
  const found: Array<BounceRecord> = []
  for (let searched = 0; searched < MAX_SEARCHED; searched += PAGE) {
    const page = yield* Native.get<Native.List<EmailRecord>>(`/v1/email/logs?${filters}`)
    found.push(...page.data.flatMap(Bounce.all).filter(({ ID }) => String(ID) === id))
    if (!page.has_more) break
    filters.set("after", page.data.at(-1)?.id ?? "")
  }
  const [bounce, ...others] = found
  return bounce === undefined || others.length > 0 ? yield* new Refusals.BounceNotFound() : bounce
})

const get = route("GET /bounces/:id", "logs.list", function* (_, { id = "" }) {
  return Native.ok(yield* find(id))
})

/** Postmark's text is empty where it has no dump. The server's answer is in the bounce's `Details`. */
const dump = route("GET /bounces/:id/dump", "logs.list", function* (_, { id = "" }) {
  yield* find(id)
  return Native.ok({ Body: "" })
})

const tags = route("GET /bounces/tags", "logs.list", function* ({ query }) {
  const bounces = yield* counted(query)
  return Native.ok([...new Set(bounces.map(({ Tag }) => Tag).filter((tag) => tag !== ""))].toSorted())
})

/** Time after its acceptance in which a message bounces, or is complained of. */
const LATE_MS = 30 * Timestamp.DAY

/**
 * Returns what is counted of the bounces of a time. The log is not counted by kinds of bounces, so that more messages
 * than one request searches are refused.
 */
export const counted = Effect.fnUntraced(function* (query: URLSearchParams) {
  const [after, before, tag] = [yield* Paging.from(query), yield* Paging.until(query), query.get("tag")]
  const filters = Filters.native({
    recipient_status: Bounce.STATUSES.join(","),
    tag,
    created_after: after === undefined ? undefined : Timestamp.fromMillis(Timestamp.toMillis(after) - LATE_MS),
    created_before: before,
  })
  const pick = (record: EmailRecord) =>
    Bounce.all(record).filter(
      ({ BouncedAt }) => (after ?? "") <= BouncedAt && (before === undefined || BouncedAt < before),
    )
  const show = ({ BouncedAt, Inactive, Name, Tag, Type }: BounceRecord) => ({ BouncedAt, Inactive, Name, Tag, Type })
  const found = yield* Filters.respelled(Paging.read("/v1/email/logs", filters, ALL, pick, show))
  return found.total <= ALL.count
    ? found.entries
    : yield* Native.refuse("fromdate", `must limit what is counted: there are more than ${ALL.count} bounces`)
})
const ALL = { offset: 0, count: Paging.MAX_REACH }

/** The numbers of bounces, all and by kind. */
const summary = (path: string) =>
  route(`GET /${path}`, "logs.list", function* ({ query }) {
    const bounces = yield* counted(query)
    const kinds = [...Map.groupBy(bounces, ({ Type }) => Type)].map(([Type, each]) => ({
      Type,
      Name: each[0]?.Name ?? Type,
      Count: each.length,
    }))
    return Native.ok({
      InactiveMails: bounces.filter(({ Inactive }) => Inactive).length,
      Bounces: [{ Name: "All", Count: bounces.length }, ...kinds.toSorted((one, other) => other.Count - one.Count)],
    })
  })

/** Removes the suppression of the address, if it has one. */
const activate = route("PUT /bounces/:id/activate", "suppressions.remove", function* (_, { id = "" }) {
  const bounce = yield* find(id)
  yield* Effect.catchIf(
    Native.remove(Native.path`/v1/suppressions/${bounce.Email}`),
    ({ reason }) => reason === "suppression_not_found",
    () => Effect.void,
  )
  return Native.ok({ Message: "OK", Bounce: { ...bounce, Inactive: false, CanActivate: false } })
})

export const routes: ReadonlyArray<Route> = [
  list,
  tags,
  get,
  dump,
  activate,
  summary("deliverystats"),
  // The path of the package `postmark`.
  summary("deliveryStats"),
]
