import type { ApiKeyRecord, CreatedKey } from "@waybill/api/groups/ApiKeys"
import type { Domain } from "@waybill/api/groups/Domains"
import * as Uuid from "@waybill/domain/values/Uuid"
import { Effect, Schema } from "effect"
import type { Route } from "../Door.ts"
import * as Native from "../Native.ts"
import * as Respelling from "../Respelling.ts"
import { route } from "../route.ts"
import * as Paging from "./Paging.ts"

const Creation = Schema.Struct({
  name: Schema.String,
  permission: Schema.optional(Schema.Literals(["full_access", "sending_access"])),
  domain_id: Schema.optional(Schema.String),
})

const create = route("POST /api-keys", { endpoint: "apiKeys.create", body: Creation }, function* ({ body, headers }) {
  const { domain_id, name, permission } = body
  const domain = domain_id === undefined ? {} : { domain: yield* nameOf(Uuid.idOf("DomainId", domain_id) ?? domain_id) }
  const scopes = [permission === "sending_access" ? "email:send" : "admin"]
  const created = yield* Native.post<typeof CreatedKey.Type>("/v1/api-keys", headers, {
    name,
    scopes,
    ...domain,
  }).pipe(Respelling.renamed({ domain: "domain_id", scopes: "permission" }))
  return Native.created({ id: created.id, token: created.key })
})

const nameOf = (domainId: string) =>
  Native.get<Domain>(Native.path`/v1/domains/${domainId}`).pipe(
    Effect.map(({ name }) => name),
    Effect.catchIf(
      ({ status }) => status === 404,
      () => Effect.fail(Native.refuse("domain_id", "is not the id of a domain of this account")),
    ),
  )

/** Revoked and expired keys, which our own list shows too, are gone in Resend's. */
const list = route("GET /api-keys", { endpoint: "apiKeys.list", query: Paging.NAMES }, function* ({ query }) {
  const { data } = yield* Native.get<Native.List<ApiKeyRecord>>("/v1/api-keys")
  const active = data.filter(({ status }) => status === "active")
  const keys = active.map(({ created_at, id, last_used_at, name }) => ({ id, name, created_at, last_used_at }))
  return yield* Paging.pageOf(query, keys)
})

const remove = route("DELETE /api-keys/:id", "apiKeys.revoke", function* (_, { id }) {
  yield* Native.remove(Native.path`/v1/api-keys/${id}`)
  return Native.ok({ object: "api_key", id, deleted: true })
})

export const routes: ReadonlyArray<Route> = [create, list, remove]
