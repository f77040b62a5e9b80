import * as ApiKey from "@waybill/domain/account/ApiKey"
import * as DomainName from "@waybill/domain/values/DomainName"
import * as Id from "@waybill/domain/values/Id"
import * as Network from "@waybill/domain/values/Network"
import * as Scope from "@waybill/domain/account/Scope"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Databases from "@waybill/store/routing/Databases"
import * as ApiKeys from "@waybill/store/readmodels/ApiKeys"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { userInfo } from "node:os"
import * as NewApiKeys from "../../operate/NewApiKeys.ts"
import * as NewIds from "../../process/NewIds.ts"
import * as AccountArgument from "../AccountArgument.ts"
import * as Options from "../Options.ts"
import * as DataCommand from "../DataCommand.ts"
import * as CliStore from "../CliStore.ts"

const create = DataCommand.record(
  {
    account: AccountArgument.account,
    name: Argument.String("name").pipe(Argument.withSchema(ApiKey.Name)),
    scope: Flag.Literals("scope", Scope.ALL).pipe(
      Flag.withDescription("Scope of the key; repeat for several"),
      Flag.between(1, Scope.ALL.length),
    ),
    test: Options.isSet("test", "Make a test key: its mail is never sent"),
    domain: Flag.String("domain").pipe(
      Flag.withDescription("Restrict the key to this domain"),
      Flag.withSchema(DomainName.FromText),
      Flag.optional,
    ),
    allowedIp: Flag.String("allowed-ip").pipe(
      Flag.withDescription("Allow the key only from this address or network; repeat for several"),
      Flag.withSchema(Network.FromText),
      Flag.between(0, ApiKey.MAX_ALLOWED_IPS),
    ),
    expiresAt: Flag.String("expires-at").pipe(
      Flag.withDescription("Time at which the key expires, such as 2027-01-31T00:00:00Z"),
      Flag.withSchema(Timestamp.FromIso),
      Flag.optional,
    ),
  },
  function* ({ account, allowedIp, domain, expiresAt, name, scope, test }) {
    const account_id = yield* AccountArgument.idOf(account)
    const { keyId, secret } = yield* NewApiKeys.createApiKey(account_id, `cli:${userInfo().username}`, {
      name,
      ...(test ? { mode: "test" as const } : {}),
      scopes: scope,
      domain: Option.getOrNull(domain),
      allowed_ips: allowedIp,
      expires_at: Option.getOrNull(expiresAt),
    })
    return { id: keyId, key: secret }
  },
)

const list = DataCommand.list(
  { account: AccountArgument.account },
  ["id", "name", "status", "mode", "last_used_at", "scopes", "prefix"],
  function* ({ account }) {
    const account_id = yield* AccountArgument.idOf(account)
    const keys = yield* Databases.ofAccount(account_id, ApiKeys.list(yield* NewIds.now, account_id))
    return keys
  },
)

const revoke = DataCommand.record(
  {
    account: AccountArgument.account,
    id: Argument.String("key").pipe(Argument.withSchema(Id.ApiKeyId)),
  },
  function* ({ account, id }) {
    const account_id = yield* AccountArgument.idOf(account)
    const store = yield* EventStore
    const at = yield* NewIds.now
    const revoked_at = yield* store.commit(ApiKey, { account_id, stream_id: id }, ApiKey.revoke(at)).pipe(
      Effect.as(at),
      Effect.catchTag("AlreadyRevoked", (already) => Effect.succeed(already.revoked_at)),
    )
    return { id, revoked: true, revoked_at }
  },
)

export const keys = DataCommand.group({
  create: ["Create a key, which is shown once", create],
  list: ["List an account's keys", list],
  revoke: ["Revoke a key permanently", revoke],
}).with(Command.provide(CliStore.layer))
