import { MAX_EVENTS, type WebhookRecord, type WithSecret } from "@waybill/api/groups/Webhooks"
import * as Checks from "@waybill/api/schemas/Checks"
import type { Delivery, DeliveryDetail } from "@waybill/api/schemas/WebhookDelivery"
import * as WebhookFormat from "@waybill/domain/webhook/WebhookFormat"
import { Effect, Schema } from "effect"
import type { Route } from "../Door.ts"
import { decodeBody } from "../decodeBody.ts"
import { nativePath } from "../nativePath.ts"
import { renamed } from "../renamed.ts"
import * as Native from "../Native.ts"
import * as Paging from "./Paging.ts"

/** A type that Resend does not have keeps its name. */
const nameOf = (type: string): string => WebhookFormat.resendTypeOf(type) ?? type

/** Several of our types have one name at Resend. */
const namesOfTypes = (types: ReadonlyArray<string>) => [...new Set(types.map((type) => nameOf(type)))]

const NAMES = namesOfTypes(WebhookFormat.RESEND_SUBSCRIPTIONS)

/** Event types in Resend's names. */
const Events = Schema.Array(
  Schema.String.check(
    Schema.makeFilter((name) => WebhookFormat.typesOfResend(name).length > 0 || `must be one of ${NAMES.join(", ")}`),
  ),
).check(Checks.items(1, MAX_EVENTS, "types"))

const toNative = (names: ReadonlyArray<string>) => names.flatMap((name) => WebhookFormat.typesOfResend(name))

const namesOf = (types: ReadonlyArray<string>) => (types.includes("*") ? NAMES : namesOfTypes(types))

const Creation = Schema.Struct({ endpoint: Schema.String, events: Events })
const Change = Schema.Struct({
  endpoint: Schema.optional(Schema.String),
  events: Schema.optional(Events),
  status: Schema.optional(Schema.Literals(["enabled", "disabled"])),
})

const withNames = renamed({ url: "endpoint", enabled: "status" })

const create: Route = {
  method: "POST",
  path: "/webhooks",
  endpoint: "webhooks.create",
  body: Creation,
  handle: Effect.fnUntraced(function* ({ body, headers }) {
    const { endpoint, events } = yield* decodeBody(Creation, body)
    const created = yield* Native.call<typeof WithSecret.Type>({
      method: "POST",
      path: "/v1/webhooks",
      body: { url: endpoint, events: toNative(events), format: "resend" },
      headers: Native.idempotency(headers),
    }).pipe(withNames)
    return Native.created({ object: "webhook", id: created.id, signing_secret: created.secret })
  }),
}

const fieldsOf = ({ created_at, enabled, events, id, url }: WebhookRecord) => ({
  id,
  created_at,
  status: enabled ? "enabled" : "disabled",
  endpoint: url,
  events: namesOf(events),
})

const list: Route = {
  method: "GET",
  path: "/webhooks",
  endpoint: "webhooks.list",
  query: Paging.NAMES,
  handle: Effect.fnUntraced(function* ({ query }) {
    const { data } = yield* Native.call<{ readonly data: ReadonlyArray<WebhookRecord> }>({
      method: "GET",
      path: "/v1/webhooks",
    })
    return yield* Paging.pageOf(query, data.map(fieldsOf))
  }),
}

/** The secret is shown when it is made and at no other time. */
const get: Route = {
  method: "GET",
  path: "/webhooks/:id",
  endpoint: "webhooks.get",
  handle: (_, { id }) =>
    Effect.map(Native.call<WebhookRecord>({ method: "GET", path: nativePath`/v1/webhooks/${id}` }), (found) =>
      Native.ok({ object: "webhook", ...fieldsOf(found), signing_secret: null }),
    ),
}

const update: Route = {
  method: "PATCH",
  path: "/webhooks/:id",
  endpoint: "webhooks.update",
  body: Change,
  handle: Effect.fnUntraced(function* ({ body }, { id }) {
    const { endpoint, events, status } = yield* decodeBody(Change, body)
    const change = {
      ...(endpoint === undefined ? {} : { url: endpoint }),
      ...(events === undefined ? {} : { events: toNative(events) }),
      ...(status === undefined ? {} : { enabled: status === "enabled" }),
    }
    yield* Native.call({ method: "PATCH", path: nativePath`/v1/webhooks/${id}`, body: change }).pipe(withNames)
    return Native.ok({ object: "webhook", id })
  }),
}

const remove: Route = {
  method: "DELETE",
  path: "/webhooks/:id",
  endpoint: "webhooks.remove",
  handle: (_, { id }) =>
    Effect.map(Native.call({ method: "DELETE", path: nativePath`/v1/webhooks/${id}` }), () =>
      Native.ok({ object: "webhook", id, deleted: true }),
    ),
}

const rotateSecret: Route = {
  method: "POST",
  path: "/webhooks/:id/signing-secret/rotate",
  endpoint: "webhooks.rotateSecret",
  handle: Effect.fnUntraced(function* ({ headers }, { id }) {
    const request = { path: nativePath`/v1/webhooks/${id}/rotate-secret`, headers: Native.idempotency(headers) }
    const rotated = yield* Native.call<typeof WithSecret.Type>({ method: "POST", ...request })
    return Native.ok({ object: "webhook", id, signing_secret: rotated.secret })
  }),
}

const eventOf = ({ attempts, created_at, event_type, id, status }: Delivery) => ({
  id,
  type: WebhookFormat.resendEventType(event_type, false) ?? event_type,
  created_at,
  status: status === "delivered" ? "success" : status === "pending" && attempts > 0 ? "attempting" : status,
})

/** Resend's events of a webhook are our deliveries. */
const events: Route = {
  method: "GET",
  path: "/webhooks/:id/events",
  endpoint: "webhooks.deliveries",
  query: ["limit", "after"],
  handle: Effect.fnUntraced(function* ({ query }, { id }) {
    const page = Paging.queryOf(query)
    const found = yield* Native.call<{ readonly data: ReadonlyArray<Delivery>; readonly has_more: boolean }>({
      method: "GET",
      path: `${nativePath`/v1/webhooks/${id}/deliveries`}${page}`,
    })
    return Paging.listOf(found.data.map(eventOf), found.has_more)
  }),
}

const detail = (id: string | undefined, delivery: string | undefined) =>
  Native.call<DeliveryDetail>({ method: "GET", path: nativePath`/v1/webhooks/${id}/deliveries/${delivery}` })

const event: Route = {
  method: "GET",
  path: "/webhooks/:id/events/:event",
  endpoint: "webhooks.delivery",
  handle: (_, { event, id }) =>
    Effect.map(detail(id, event), (found) =>
      Native.ok({
        object: "webhook_event",
        ...eventOf(found),
        next_attempt_at: found.next_attempt_at,
        payload: found.request_body === "" ? null : (JSON.parse(found.request_body) as unknown),
      }),
    ),
}

const replay: Route = {
  method: "POST",
  path: "/webhooks/:id/events/:event/replay",
  endpoint: "webhooks.replayDelivery",
  handle: Effect.fnUntraced(function* ({ headers }, { event, id }) {
    const path = nativePath`/v1/webhooks/${id}/deliveries/${event}/replay`
    const replayed = yield* Native.call<Delivery>({ method: "POST", path, headers: Native.idempotency(headers) })
    return Native.ok({ object: "webhook_event", id: replayed.id })
  }),
}

/** Newest first. An attempt without a response has the status 0 and the error instead of the response. */
const attempts: Route = {
  method: "GET",
  path: "/webhooks/:id/events/:event/attempts",
  endpoint: "webhooks.delivery",
  query: Paging.NAMES,
  handle: Effect.fnUntraced(function* ({ query }, { event, id }) {
    const { history } = yield* detail(id, event)
    const all = history.map(({ at, error, response_body, status }, nth) => ({
      id: `${event}_${nth + 1}`,
      http_status_code: status ?? 0,
      response: response_body ?? error ?? "",
      sent_at: at,
    }))
    return yield* Paging.pageOf(query, all.reverse())
  }),
}

export const routes: ReadonlyArray<Route> = [
  create,
  list,
  get,
  update,
  remove,
  rotateSecret,
  events,
  event,
  replay,
  attempts,
]
