import type { Domain } from "@waybill/api/groups/Domains"
import { Effect, Schema } from "effect"
import type { Route } from "../Door.ts"
import * as Native from "../Native.ts"
import * as Respelling from "../Respelling.ts"
import { route } from "../route.ts"
import * as ResendDomain from "../../webhookFormats/ResendDomain.ts"
import * as Paging from "./Paging.ts"

const only = <A extends string>(value: A, message: string) =>
  Schema.optional(Schema.String.check(Schema.makeFilter((text) => text === value || message)))

/** Settings of a domain; where Waybill has one way only, its value is taken and every other one refused. */
const settings = {
  open_tracking: Schema.optional(Schema.Boolean),
  click_tracking: Schema.optional(Schema.Boolean),
  tracking_subdomain: Schema.optional(Schema.String),
  tls: only("opportunistic", "must be opportunistic: Waybill does not require TLS of a domain's recipients"),
  capabilities: Schema.optional(
    Schema.Struct({
      sending: only("enabled", "must be enabled: every domain in Waybill sends"),
      receiving: Schema.optional(Schema.Literals(["enabled", "disabled"])),
    }),
  ),
}
const Creation = Schema.Struct({
  name: Schema.String,
  /** Taken and given back: there are no regions, and the records name the return path. */
  region: Schema.optional(Schema.String),
  custom_return_path: Schema.optional(Schema.String),
  ...settings,
})
const Change = Schema.Struct(settings)

const changeOf = (
  { capabilities, click_tracking, open_tracking, tracking_subdomain }: typeof Change.Type,
  name: string | undefined,
): Readonly<Record<string, unknown>> => ({
  ...(open_tracking === undefined ? {} : { open_tracking }),
  ...(click_tracking === undefined ? {} : { click_tracking }),
  ...(capabilities?.receiving === undefined ? {} : { receiving: capabilities.receiving === "enabled" }),
  ...(tracking_subdomain === undefined ? {} : { tracking_domain: `${tracking_subdomain}.${name}` }),
})

const find = (id: string) => Native.get<Domain>(Native.path`/v1/domains/${id}`)

const patch = (id: string, body: object) =>
  Native.patch<Domain>(Native.path`/v1/domains/${id}`, body).pipe(
    Respelling.renamed({ tracking_domain: "tracking_subdomain" }),
  )

const create = route("POST /domains", { endpoint: "domains.add", body: Creation }, function* ({ body, headers }) {
  const { custom_return_path, name, region = ResendDomain.REGION, ...rest } = body
  const given = { region, ...(custom_return_path === undefined ? {} : { custom_return_path }) }
  const added = yield* Native.post<Domain>("/v1/domains", headers, { name })
  const change = changeOf(rest, added.name)
  if (Object.keys(change).length === 0) return Native.created({ ...ResendDomain.detailOf(added), ...given })
  // Refused settings leave no domain behind, so that the corrected request succeeds.
  const remove = Native.remove(Native.path`/v1/domains/${added.id}`)
  const domain = yield* Effect.tapError(patch(added.id, change), () => remove)
  return Native.created({ ...ResendDomain.detailOf(domain), ...given })
})

const list = route("GET /domains", { endpoint: "domains.list", query: Paging.NAMES }, function* ({ query }) {
  const { data } = yield* Native.get<Native.List<Domain>>("/v1/domains")
  return yield* Paging.pageOf(query, data.map(ResendDomain.fieldsOf))
})

const get = route("GET /domains/:id", "domains.get", function* (_, { id = "" }) {
  return Native.ok(ResendDomain.detailOf(yield* find(id)))
})

const update = route(
  "PATCH /domains/:id",
  { endpoint: "domains.update", body: Change },
  function* ({ body }, { id = "" }) {
    const name = body.tracking_subdomain === undefined ? undefined : (yield* find(id)).name
    const domain = yield* patch(id, changeOf(body, name))
    return Native.ok({ object: "domain", id: domain.id })
  },
)

const verify = route("POST /domains/:id/verify", "domains.verify", function* ({ headers }, { id }) {
  const domain = yield* Native.post<Domain>(Native.path`/v1/domains/${id}/verify`, headers)
  return Native.ok({ object: "domain", id: domain.id })
})

const remove = route("DELETE /domains/:id", "domains.remove", function* (_, { id }) {
  const removed = yield* Native.remove<{ readonly id: string }>(Native.path`/v1/domains/${id}`)
  return Native.ok({ object: "domain", id: removed.id, deleted: true })
})

export const routes: ReadonlyArray<Route> = [create, list, get, update, verify, remove]
