import { MAX_EVENTS, type WebhookRecord, type WithSecret } from "@waybill/api/groups/Webhooks"
import * as Checks from "@waybill/api/schemas/Checks"
import type { Delivery, DeliveryDetail } from "@waybill/api/schemas/WebhookDelivery"
import * as WebhookFormat from "@waybill/domain/webhook/WebhookFormat"
import { Schema } from "effect"
import type { Route } from "../Door.ts"
import * as Native from "../Native.ts"
import * as Respelling from "../Respelling.ts"
import { route } from "../route.ts"
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

const withNames = Respelling.renamed({ url: "endpoint", enabled: "status" })

const create = route("POST /webhooks", { endpoint: "webhooks.create", body: Creation }, function* ({ body, headers }) {
  const hook = { url: body.endpoint, events: toNative(body.events), format: "resend" }
  const created = yield* withNames(Native.post<typeof WithSecret.Type>("/v1/webhooks", headers, hook))
  return Native.created({ object: "webhook", id: created.id, signing_secret: created.secret })
})

const fieldsOf = ({ created_at, enabled, events, id, url }: WebhookRecord) => ({
  id,
  created_at,
  status: enabled ? "enabled" : "disabled",
  endpoint: url,
  events: namesOf(events),
})

const list = route("GET /webhooks", { endpoint: "webhooks.list", query: Paging.NAMES }, function* ({ query }) {
  const { data } = yield* Native.get<Native.List<WebhookRecord>>("/v1/webhooks")
  return yield* Paging.pageOf(query, data.map(fieldsOf))
})

/** The secret is shown when it is made and at no other time. */
const get = route("GET /webhooks/:id", "webhooks.get", function* (_, { id }) {
  const found = yield* Native.get<WebhookRecord>(Native.path`/v1/webhooks/${id}`)
  return Native.ok({ object: "webhook", ...fieldsOf(found), signing_secret: null })
})

const update = route(
  "PATCH /webhooks/:id",
  { endpoint: "webhooks.update", body: Change },
  function* ({ body: { endpoint, events, status } }, { id }) {
    const change = {
      ...(endpoint === undefined ? {} : { url: endpoint }),
      ...(events === undefined ? {} : { events: toNative(events) }),
      ...(status === undefined ? {} : { enabled: status === "enabled" }),
    }
    yield* withNames(Native.patch(Native.path`/v1/webhooks/${id}`, change))
    return Native.ok({ object: "webhook", id })
  },
)

const remove = route("DELETE /webhooks/:id", "webhooks.remove", function* (_, { id }) {
  yield* Native.remove(Native.path`/v1/webhooks/${id}`)
  return Native.ok({ object: "webhook", id, deleted: true })
})

const rotateSecret = route(
  "POST /webhooks/:id/signing-secret/rotate",
  "webhooks.rotateSecret",
  function* ({ headers }, { id }) {
    const path = Native.path`/v1/webhooks/${id}/rotate-secret`
    const rotated = yield* Native.post<typeof WithSecret.Type>(path, headers)
    return Native.ok({ object: "webhook", id, signing_secret: rotated.secret })
  },
)

const eventOf = ({ attempts, created_at, event_type, id, status }: Delivery) => ({
  id,
  type: WebhookFormat.resendEventType(event_type, false) ?? event_type,
  created_at,
  status: status === "delivered" ? "success" : status === "pending" && attempts > 0 ? "attempting" : status,
})

/** Resend's events of a webhook are our deliveries. */
const events = route(
  "GET /webhooks/:id/events",
  { endpoint: "webhooks.deliveries", query: ["limit", "after"] },
  function* ({ query }, { id }) {
    const path = `${Native.path`/v1/webhooks/${id}/deliveries`}${Paging.queryOf(query)}`
    const { data, has_more } = yield* Native.get<Native.List<Delivery>>(path)
    return Paging.listOf(data.map(eventOf), has_more)
  },
)

const detail = (id: string | undefined, delivery: string | undefined) =>
  Native.get<DeliveryDetail>(Native.path`/v1/webhooks/${id}/deliveries/${delivery}`)

const event = route("GET /webhooks/:id/events/:event", "webhooks.delivery", function* (_, { event, id }) {
  const found = yield* detail(id, event)
  return Native.ok({
    object: "webhook_event",
    ...eventOf(found),
    next_attempt_at: found.next_attempt_at,
    payload: found.request_body === "" ? null : (JSON.parse(found.request_body) as unknown),
  })
})

const replay = route(
  "POST /webhooks/:id/events/:event/replay",
  "webhooks.replayDelivery",
  function* ({ headers }, { event, id }) {
    const path = Native.path`/v1/webhooks/${id}/deliveries/${event}/replay`
    const replayed = yield* Native.post<Delivery>(path, headers)
    return Native.ok({ object: "webhook_event", id: replayed.id })
  },
)

/** Newest first. An attempt without a response has the status 0 and the error instead of the response. */
const attempts = route(
  "GET /webhooks/:id/events/:event/attempts",
  { endpoint: "webhooks.delivery", query: Paging.NAMES },
  function* ({ query }, { event, id }) {
    const { history } = yield* detail(id, event)
    const all = history.map(({ at, error, response_body, status }, nth) => ({
      id: `${event}_${nth + 1}`,
      http_status_code: status ?? 0,
      response: response_body ?? error ?? "",
      sent_at: at,
    }))
    return yield* Paging.pageOf(query, all.reverse())
  },
)

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
