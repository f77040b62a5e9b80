import type { EmailRecord } from "@waybill/api/schemas/EmailRecord"
import { Effect, identity } from "effect"
import { NativeError, type Route } from "../Door.ts"
import { nativePath } from "../nativePath.ts"
import * as Native from "../Native.ts"
import * as Respelling from "../Respelling.ts"
import * as Bounce from "./Bounce.ts"
import * as Filters from "./Filters.ts"
import * as Paging from "./Paging.ts"
import * as Refusals from "./Refusals.ts"

type BounceRecord = ReturnType<typeof Bounce.all>[number]

const list: Route = {
  method: "GET",
  path: "/bounces",
  endpoint: "logs.list",
  bucket: "logs",
  query: [
    "count",
    "offset",
    "type",
    "inactive",
    "emailfilter",
    "tag",
    "messageid",
    "fromdate",
    "todate",
    "messagestream",
  ],
  handle: Effect.fnUntraced(function* ({ query }) {
    yield* Filters.checkStream(query)
    const range = yield* Paging.rangeOf(query)
    const isWanted = yield* filterOf(query)
    const of = (record: EmailRecord) => Bounce.all(record).filter(isWanted)
    const id = query.get("messageid")
    if (id !== null) {
      const bounces = of(yield* message(id))
      return Native.ok({
        TotalCount: bounces.length,
        Bounces: bounces.slice(range.offset, range.offset + range.count),
      })
    }
    const filters = Filters.native({
      recipient_status: Bounce.STATUSES.join(","),
      tag: query.get("tag"),
      created_before: yield* Paging.until(query),
    })
    const found = yield* Paging.read("/v1/email/logs", filters, range, of, identity).pipe(
      Respelling.respelled(Filters.spelling),
    )
    return Native.ok({ TotalCount: found.total, Bounces: found.entries })
  }),
}

const message = (id: string) => Native.call<EmailRecord>({ method: "GET", path: nativePath`/v1/email/logs/${id}` })

/** Returns the filters that our own list of emails does not have. */
const filterOf = Effect.fnUntraced(function* (query: URLSearchParams) {
  const type = query.get("type")
  if (type !== null && !Bounce.TYPES.includes(type))
    return yield* Native.refuse("type", `must be one of ${Bounce.TYPES.join(", ")}; Waybill has no others`)
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

/** Returns a bounce by its id, whose first part is the id of the message. */
const find = Effect.fnUntraced(function* (id: string) {
  const parts = Bounce.partsOf(id)
  if (parts === undefined) return yield* new Refusals.BounceNotFound()
  const record = yield* Effect.catchIf(
    message(parts.email_id),
    (failure) => failure instanceof NativeError && failure.status === 404,
    () => Effect.fail(new Refusals.BounceNotFound()),
  )
  return Bounce.all(record).find(({ ID }) => ID === id) ?? (yield* new Refusals.BounceNotFound())
})

const get: Route = {
  method: "GET",
  path: "/bounces/:id",
  endpoint: "logs.get",
  handle: (_, { id = "" }) => Effect.map(find(id), Native.ok),
}

/** Removes the suppression of the address, if it has one. */
const activate: Route = {
  method: "PUT",
  path: "/bounces/:id/activate",
  endpoint: "suppressions.remove",
  handle: Effect.fnUntraced(function* (_, { id = "" }) {
    const bounce = yield* find(id)
    yield* Effect.catchIf(
      Native.call({ method: "DELETE", path: nativePath`/v1/suppressions/${bounce.Email}` }),
      (failure) => failure.error.reason === "suppression_not_found",
      () => Effect.void,
    )
    return Native.ok({ Message: "OK", Bounce: { ...bounce, Inactive: false, CanActivate: false } })
  }),
}

export const routes: ReadonlyArray<Route> = [list, get, activate]
