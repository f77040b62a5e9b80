import type { ApiKeyRecord, CreatedKey } from "@waybill/api/groups/ApiKeys"
import type { Domain } from "@waybill/api/groups/Domains"
import * as Uuid from "@waybill/domain/values/Uuid"
import { Effect, Schema } from "effect"
import type { Route } from "../Door.ts"
import { decodeBody } from "../decodeBody.ts"
import { nativePath } from "../nativePath.ts"
import { renamed } from "../renamed.ts"
import * as Native from "../Native.ts"
import * as Paging from "./Paging.ts"

const Creation = Schema.Struct({
  name: Schema.String,
  permission: Schema.optional(Schema.Literals(["full_access", "sending_access"])),
  domain_id: Schema.optional(Schema.String),
})

const create: Route = {
  method: "POST",
  path: "/api-keys",
  endpoint: "apiKeys.create",
  body: Creation,
  handle: Effect.fnUntraced(function* ({ body, headers }) {
    const { domain_id, name, permission } = yield* decodeBody(Creation, body)
    const domain =
      domain_id === undefined ? {} : { domain: yield* nameOf(Uuid.idOf("DomainId", domain_id) ?? domain_id) }
    const scopes = [permission === "sending_access" ? "email:send" : "admin"]
    const created = yield* Native.call<typeof CreatedKey.Type>({
      method: "POST",
      path: "/v1/api-keys",
      body: { name, scopes, ...domain },
      headers: Native.idempotency(headers),
    }).pipe(renamed({ domain: "domain_id", scopes: "permission" }))
    return Native.created({ id: created.id, token: created.key })
  }),
}

const nameOf = (domainId: string) =>
  Native.call<Domain>({ method: "GET", path: nativePath`/v1/domains/${domainId}` }).pipe(
    Effect.map(({ name }) => name),
    Effect.catchIf(
      ({ status }) => status === 404,
      () => Effect.fail(Native.refuse("domain_id", "is not the id of a domain of this account")),
    ),
  )

/** Revoked and expired keys, which our own list shows too, are gone in Resend's. */
const list: Route = {
  method: "GET",
  path: "/api-keys",
  endpoint: "apiKeys.list",
  query: Paging.NAMES,
  handle: Effect.fnUntraced(function* ({ query }) {
    const { data } = yield* Native.call<{ readonly data: ReadonlyArray<ApiKeyRecord> }>({
      method: "GET",
      path: "/v1/api-keys",
    })
    const active = data.filter(({ status }) => status === "active")
    const keys = active.map(({ created_at, id, last_used_at, name }) => ({ id, name, created_at, last_used_at }))
    return yield* Paging.pageOf(query, keys)
  }),
}

const remove: Route = {
  method: "DELETE",
  path: "/api-keys/:id",
  endpoint: "apiKeys.revoke",
  handle: (_, { id }) =>
    Effect.map(Native.call({ method: "DELETE", path: nativePath`/v1/api-keys/${id}` }), () =>
      Native.ok({ object: "api_key", id, deleted: true }),
    ),
}

export const routes: ReadonlyArray<Route> = [create, list, remove]
