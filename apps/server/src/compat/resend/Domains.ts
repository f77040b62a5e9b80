import type { Domain } from "@waybill/api/groups/Domains"
import { Effect, Schema } from "effect"
import type { Route } from "../Door.ts"
import { decodeBody } from "../decodeBody.ts"
import { nativePath } from "../nativePath.ts"
import { renamed } from "../renamed.ts"
import * as Native from "../Native.ts"
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

const patch = (id: string, body: object) =>
  Native.call<Domain>({ method: "PATCH", path: nativePath`/v1/domains/${id}`, body }).pipe(
    renamed({ tracking_domain: "tracking_subdomain" }),
  )

const find = (id: string) => Native.call<Domain>({ method: "GET", path: nativePath`/v1/domains/${id}` })

const create: Route = {
  method: "POST",
  path: "/domains",
  endpoint: "domains.add",
  body: Creation,
  handle: Effect.fnUntraced(function* ({ body, headers }) {
    const { custom_return_path, name, region = ResendDomain.REGION, ...rest } = yield* decodeBody(Creation, body)
    const given = { region, ...(custom_return_path === undefined ? {} : { custom_return_path }) }
    const added = yield* Native.call<Domain>({
      method: "POST",
      path: "/v1/domains",
      body: { name },
      headers: Native.idempotency(headers),
    })
    const change = changeOf(rest, added.name)
    if (Object.keys(change).length === 0) return Native.created({ ...ResendDomain.detailOf(added), ...given })
    // Refused settings leave no domain behind, so that the corrected request succeeds.
    const remove = Native.call({ method: "DELETE", path: nativePath`/v1/domains/${added.id}` })
    const domain = yield* Effect.tapError(patch(added.id, change), () => remove)
    return Native.created({ ...ResendDomain.detailOf(domain), ...given })
  }),
}

const list: Route = {
  method: "GET",
  path: "/domains",
  endpoint: "domains.list",
  query: Paging.NAMES,
  handle: Effect.fnUntraced(function* ({ query }) {
    const { data } = yield* Native.call<{ readonly data: ReadonlyArray<Domain> }>({
      method: "GET",
      path: "/v1/domains",
    })
    return yield* Paging.pageOf(query, data.map(ResendDomain.fieldsOf))
  }),
}

const get: Route = {
  method: "GET",
  path: "/domains/:id",
  endpoint: "domains.get",
  handle: (_, { id = "" }) => Effect.map(find(id), (domain) => Native.ok(ResendDomain.detailOf(domain))),
}

const update: Route = {
  method: "PATCH",
  path: "/domains/:id",
  endpoint: "domains.update",
  body: Change,
  handle: Effect.fnUntraced(function* ({ body }, { id = "" }) {
    const change = yield* decodeBody(Change, body)
    const name = change.tracking_subdomain === undefined ? undefined : (yield* find(id)).name
    const domain = yield* patch(id, changeOf(change, name))
    return Native.ok({ object: "domain", id: domain.id })
  }),
}

const verify: Route = {
  method: "POST",
  path: "/domains/:id/verify",
  endpoint: "domains.verify",
  handle: Effect.fnUntraced(function* ({ headers }, { id }) {
    const request = { path: nativePath`/v1/domains/${id}/verify`, headers: Native.idempotency(headers) }
    const domain = yield* Native.call<Domain>({ method: "POST", ...request })
    return Native.ok({ object: "domain", id: domain.id })
  }),
}

const remove: Route = {
  method: "DELETE",
  path: "/domains/:id",
  endpoint: "domains.remove",
  handle: (_, { id }) =>
    Effect.map(
      Native.call<{ readonly id: string }>({ method: "DELETE", path: nativePath`/v1/domains/${id}` }),
      (removed) => Native.ok({ object: "domain", id: removed.id, deleted: true }),
    ),
}

export const routes: ReadonlyArray<Route> = [create, list, get, update, verify, remove]
