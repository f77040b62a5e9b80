import * as ApiKey from "@waybill/domain/account/ApiKey"
import * as DomainName from "@waybill/domain/values/DomainName"
import * as Id from "@waybill/domain/values/Id"
import * as Network from "@waybill/domain/values/Network"
import * as Scope from "@waybill/domain/account/Scope"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as ApiError from "../errors/ApiError.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { annotate } from "../middleware/annotate.ts"
import * as Idempotency from "../schemas/Idempotency.ts"
import { optional } from "../schemas/optional.ts"
import * as Page from "../schemas/Page.ts"
import * as Checks from "../schemas/Checks.ts"
import { Validation } from "../middleware/Validation.ts"

const at = Timestamp.Timestamp

const Mode = Schema.Literals(["live", "test"]).annotate({
  identifier: "ApiKeyMode",
  description: "A `test` key sends and reads test mail only, which never leaves the service",
})

const fields = {
  object: Schema.Literal("api_key"),
  id: Id.ApiKeyId,
  name: Schema.String,
  prefix: Schema.String.annotate({
    description: "The beginning of the key: `wb_`, or `wb_test_` for a test key, and seven characters",
    examples: ["wb_4Ko2xQa"],
  }),
  mode: Mode,
  test_clock: Schema.NullOr(Id.TestClockId).annotate({
    description: "The test clock that all mail of the key lives on; `null` on real time",
  }),
  scopes: Schema.Array(Scope.Scope),
  domain: Schema.NullOr(Schema.String).annotate({ description: "The domain that the key is bound to; `null` if none" }),
  allowed_ips: Schema.Array(Schema.String).annotate({ description: "Empty allows every address" }),
  status: ApiKey.Status,
  created_at: at,
  created_by: Schema.NullOr(Schema.String),
  last_used_at: Schema.NullOr(at),
  expires_at: Schema.NullOr(at),
  revoked_at: Schema.NullOr(at),
}

export const ApiKeyRecord = Schema.Struct(fields).annotate({ identifier: "ApiKey" })
export type ApiKeyRecord = typeof ApiKeyRecord.Type

export const CreatedKey = Schema.Struct({
  ...fields,
  key: Schema.String.annotate({ description: "The key itself. It is shown only once." }),
}).annotate({ identifier: "CreatedApiKey" })

export const Revoked = Schema.Struct({
  object: Schema.Literal("api_key"),
  id: Id.ApiKeyId,
  revoked: Schema.Literal(true),
  revoked_at: at,
}).annotate({ identifier: "ApiKeyRevoked" })

const Creation = Schema.Struct({
  name: ApiKey.Name,
  scopes: Schema.Array(Scope.Scope).check(Checks.items(1, Scope.ALL.length, "scopes")),
  mode: optional(Mode, "`live` by default"),
  domain: optional(DomainName.FromText, "Binds the key to this domain: it can use no other domain"),
  allowed_ips: optional(
    Schema.Array(Network.FromText).check(Checks.items(0, ApiKey.MAX_ALLOWED_IPS, "networks")),
    "Limits the key to these addresses and networks",
  ),
  expires_at: optional(Timestamp.FromIso, "When the key stops working"),
  test_clock: optional(Id.TestClockId, "A test clock that all mail of the key lives on; for a test key only"),
}).annotate({ identifier: "ApiKeyCreation" })

const params = { key_id: Id.ApiKeyId }

export class ApiKeys extends HttpApiGroup.make("apiKeys")
  .add(
    HttpApiEndpoint.get("list", "/api-keys", { success: Page.of(ApiKeyRecord) }).annotateMerge(
      annotate(
        "List API keys",
        "admin",
        "All active keys of the account and the last 1,000 revoked or expired ones, newest first.",
      ),
    ),
    HttpApiEndpoint.get("get", "/api-keys/:key_id", { params, success: ApiKeyRecord }).annotateMerge(
      annotate("Get an API key", "admin", "The record of the key. The key itself is not stored."),
    ),
    HttpApiEndpoint.post("create", "/api-keys", {
      headers: Idempotency.headers,
      payload: Creation,
      success: Idempotency.replayable(CreatedKey.pipe(HttpApiSchema.status(201))),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Create an API key",
        "admin",
        `This response is the only one that contains the key. A lost key cannot be recovered, only revoked and replaced. A key that is created with an API key cannot exceed the scopes, domain, networks and expiry of that key, else 403 \`more_than_the_key\`. An account has at most ${ApiKey.MAX_ACTIVE_KEYS} active keys, else 422 \`too_many_api_keys\`.`,
      ),
    ),
    HttpApiEndpoint.delete("revoke", "/api-keys/:key_id", { params, success: Revoked }).annotateMerge(
      annotate(
        "Revoke an API key",
        "admin",
        "Takes effect at once on every node and is permanent. Revoking again returns the first `revoked_at`. A key may revoke itself.",
      ),
    ),
  )
  .middleware(Validation)
  .middleware(Authorization)
  .annotateMerge(
    OpenApi.annotations({ title: "API keys", description: "Credentials for the API, with scopes and limits." }),
  ) {}
