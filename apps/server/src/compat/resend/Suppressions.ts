import type { SuppressionRecord } from "@waybill/api/groups/Suppressions"
import * as Page from "@waybill/api/schemas/Page"
import * as Checks from "@waybill/api/schemas/Checks"
import * as Address from "@waybill/domain/values/Address"
import * as SuppressionRefusal from "@waybill/domain/suppression/SuppressionRefusal"
import * as Id from "@waybill/domain/values/Id"
import * as Uuid from "@waybill/domain/values/Uuid"
import { Effect, Schema, SchemaTransformation, Struct } from "effect"
import type { DoorRequest, Route } from "../Door.ts"
import * as Native from "../Native.ts"
import { route } from "../route.ts"
import * as Paging from "./Paging.ts"

/** Maximum number of addresses that one call adds or removes. */
export const MAX_SUPPRESSIONS = 100

const ORIGINS: Readonly<Record<SuppressionRecord["reason"], string>> = {
  hard_bounce: "bounce",
  complaint: "complaint",
  unsubscribe: "manual",
  manual: "manual",
}

const fieldsOf = ({ created_at, email, email_id, id, reason }: SuppressionRecord) => ({
  id,
  email,
  origin: ORIGINS[reason],
  source_id: email_id,
  created_at,
})

const byEmail = (email: string) => Native.get<SuppressionRecord>(Native.path`/v1/suppressions/${email}`)

const isId = Schema.is(Id.SuppressionId)

/** Our own API finds suppressions by address, and lists them by id from newest to oldest. */
const find = (idOrEmail: string) =>
  isId(idOrEmail)
    ? Native.get<Native.List<SuppressionRecord>>(Native.path`/v1/suppressions?limit=1&after=${next(idOrEmail)}`).pipe(
        Effect.map(({ data }) => data[0]),
        Effect.filterOrFail(
          (found) => found?.id === idOrEmail,
          () => new SuppressionRefusal.SuppressionNotFound(),
        ),
        Effect.map((found) => found as SuppressionRecord),
      )
    : byEmail(idOrEmail)

const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"

/** Returns the id that follows directly in the order of ids. */
const next = (id: string): string => {
  const last = DIGITS.indexOf(id.at(-1) ?? "")
  const rest = id.slice(0, -1)
  return last === DIGITS.length - 1 ? `${next(rest)}${DIGITS[0]}` : `${rest}${DIGITS[last + 1]}`
}

/** Adds an address. One that is suppressed already keeps its suppression. */
const added = (email: string, headers: DoorRequest["headers"] = {}) =>
  Native.post<SuppressionRecord>("/v1/suppressions", headers, { email }).pipe(
    Effect.catchIf(
      ({ reason }) => reason === "already_suppressed",
      () => byEmail(email),
    ),
    Effect.map(({ id }) => ({ object: "suppression", id })),
  )

const removed = (email: string) =>
  Effect.map(Native.remove<{ readonly id: string }>(Native.path`/v1/suppressions/${email}`), ({ id }) => ({
    object: "suppression",
    id,
    deleted: true,
  }))

const Addition = Schema.Struct({ email: Schema.String })

const add = route(
  "POST /suppressions",
  { endpoint: "suppressions.add", body: Addition },
  function* ({ body, headers }) {
    return Native.created(yield* added(body.email, headers))
  },
)

const listed = (query: URLSearchParams) =>
  Native.get<Native.List<SuppressionRecord>>(`/v1/suppressions${Paging.queryOf(query)}`)

const REASONS = Struct.keys(ORIGINS)
const NO_ORIGIN = `must be ${[...new Set(Object.values(ORIGINS))].join(", ")}`

/** Several of our reasons can be one origin. Their lists are merged, as far down as each of them was read. */
const ofOrigin = Effect.fnUntraced(function* (origin: string, query: URLSearchParams) {
  const reasons = REASONS.filter((reason) => ORIGINS[reason] === origin)
  if (reasons.length === 0) return yield* Native.refuse("origin", NO_ORIGIN)
  const lists = yield* Effect.forEach(reasons, (reason) => {
    const ofReason = new URLSearchParams(query)
    ofReason.delete("origin")
    ofReason.set("reason", reason)
    return listed(ofReason)
  })
  const end = lists.reduce(
    (most, { next_cursor }) => (next_cursor !== null && next_cursor > most ? next_cursor : most),
    "",
  )
  const found = lists.flatMap(({ data }) => data.filter(({ id }) => id >= end))
  const data = found
    .toSorted((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, Number(query.get("limit") ?? Page.DEFAULT_LIMIT))
  return { data, has_more: end !== "" || data.length < found.length }
})

const list = route(
  "GET /suppressions",
  { endpoint: "suppressions.list", query: ["limit", "after", "origin"] },
  function* ({ query }) {
    const origin = query.get("origin")
    const { data, has_more } = yield* origin === null ? listed(query) : ofOrigin(origin, query)
    return Paging.listOf(data.map(fieldsOf), has_more)
  },
)

const get = route("GET /suppressions/:id", "suppressions.get", function* (_, { id = "" }) {
  return Native.ok({ object: "suppression", ...fieldsOf(yield* find(id)) })
})

const remove = route("DELETE /suppressions/:id", "suppressions.remove", function* (_, { id = "" }) {
  return Native.ok(yield* removed(isId(id) ? (yield* find(id)).email : id))
})

const several = <S extends Schema.Codec<string, string>>(item: S) =>
  Schema.Array(item).check(Checks.items(1, MAX_SUPPRESSIONS, "entries"))
const emails = several(Address.FromText)

const Additions = Schema.Struct({ emails })

/** All addresses are checked before the first is added. */
const addBatch = route(
  "POST /suppressions/batch/add",
  { endpoint: "suppressions.add", body: Additions },
  function* ({ body }) {
    return Native.created({ data: yield* Effect.forEach(body.emails, (email) => added(email)) })
  },
)

const SuppressionId = Schema.String.pipe(
  Schema.decodeTo(
    Id.SuppressionId,
    SchemaTransformation.transform<string, string>({
      decode: (text) => Uuid.idOf("SuppressionId", text) ?? text,
      encode: (id) => id,
    }),
  ),
)

const Removal = Schema.Struct({
  emails: Schema.optional(emails),
  ids: Schema.optional(several(SuppressionId)),
}).check(
  Schema.makeFilter(
    ({ emails, ids }) =>
      (emails === undefined) !== (ids === undefined) || { path: ["emails"], issue: "or `ids` is required, not both" },
  ),
)

/** The answer has the suppressions that there were. */
const removeBatch = route(
  "POST /suppressions/batch/remove",
  { endpoint: "suppressions.remove", body: Removal },
  function* ({ body }) {
    const answers = yield* Effect.forEach(body.emails ?? body.ids ?? [], (each) =>
      Effect.flatMap(find(each), ({ email }) => removed(email)).pipe(
        Effect.map((answer) => [answer]),
        Effect.catchIf(
          ({ reason }) => reason === "suppression_not_found",
          () => Effect.succeed([]),
        ),
      ),
    )
    return Native.ok({ data: answers.flat() })
  },
)

export const routes: ReadonlyArray<Route> = [add, list, get, remove, addBatch, removeBatch]
