import { Array, Result, Schema } from "effect"
import * as Refusal from "../values/Refusal.ts"
import type * as Aggregate from "../values/Aggregate.ts"
import * as ApiKeySecret from "./ApiKeySecret.ts"
import { Sha256 } from "../values/Sha256.ts"
import * as DomainName from "../values/DomainName.ts"
import * as Id from "../values/Id.ts"
import type { Mode } from "./Livemode.ts"
import * as Network from "../values/Network.ts"
import * as Scope from "./Scope.ts"
import * as Text from "../values/Text.ts"
import * as Timestamp from "../values/Timestamp.ts"

export const stream = "api_key" as const

export const MAX_NAME_CHARS = 100
export const MAX_ALLOWED_IPS = 50
/** Maximum number of active keys per account: enough for one key per service, few enough to list in one response. */
export const MAX_ACTIVE_KEYS = 500

export const Name = Text.name(MAX_NAME_CHARS)

const at = Timestamp.Timestamp

/**
 * Both events of a new key hold the hash, so that the read model which authenticates requests is built from events
 * alone. The hash reveals nothing: its input is 32 random bytes.
 */
const created = {
  key_id: Id.ApiKeyId,
  name: Text.Stored,
  hash: Sha256,
  scopes: Schema.Array(Scope.Scope),
  domain: Schema.NullOr(DomainName.DomainName),
  allowed_ips: Schema.Array(Network.Network),
  expires_at: Schema.NullOr(Timestamp.Timestamp),
  /** Creator of the key: a user, a key or the command line. */
  created_by: Schema.NullOr(Text.Stored),
  at,
}
/** The test clock that the mail of a test key lives on. Absent for a key on real time. */
const test_clock = Schema.optionalKey(Id.TestClockId)
const prefix = (pattern: RegExp) => Schema.String.check(Schema.isPattern(pattern))

export const Event = Schema.TaggedUnion({
  KeyCreated: { ...created, prefix: prefix(/^wb_[0-9A-Za-z]{7}$/u) },
  /** An event of its own, so that no test key exists while a node runs that would send its mail. */
  TestKeyCreated: { ...created, test_clock, prefix: prefix(/^wb_test_[0-9A-Za-z]{7}$/u) },
  KeyRevoked: { at },
})
export type Event = typeof Event.Type
export type KeyCreated = Extract<Event, { readonly _tag: "KeyCreated" | "TestKeyCreated" }>

export const clockOf = (key: KeyCreated): Id.TestClockId | undefined =>
  key._tag === "TestKeyCreated" ? key.test_clock : undefined

export const modeOf = ({ _tag }: KeyCreated): Mode => (_tag === "TestKeyCreated" ? "test" : "live")

export type State = { readonly _tag: "NotCreated" } | Key

export interface Key {
  readonly _tag: "Key"
  readonly created: KeyCreated
  readonly revoked_at: Timestamp.Timestamp | null
}

export const initial: State = { _tag: "NotCreated" }

/** @public A part of the aggregate. */
export const evolve = (state: State, event: Event): State => {
  switch (event._tag) {
    case "KeyCreated":
    case "TestKeyCreated":
      return state._tag === "NotCreated" ? { _tag: "Key", created: event, revoked_at: null } : state
    case "KeyRevoked":
      return state._tag === "Key" && state.revoked_at === null ? { ...state, revoked_at: event.at } : state
  }
}

export const Status = Schema.Literals(["active", "expired", "revoked"]).annotate({ identifier: "ApiKeyStatus" })
export type Status = typeof Status.Type

/** A key expires at `expires_at` itself. A revoked key stays "revoked" after it has expired. */
export const status = (
  key: { readonly expires_at: Timestamp.Timestamp | null; readonly revoked_at: Timestamp.Timestamp | null },
  now: Timestamp.Timestamp,
): Status => {
  if (key.revoked_at !== null) return "revoked"
  return key.expires_at !== null && key.expires_at <= now ? "expired" : "active"
}

export class KeyNotFound extends Refusal.of("KeyNotFound", 404, "api_key_not_found") {
  override readonly message = "No API key with this id exists in this account."
}

/** Never shown to a client: revoking a key again returns the time of the first revocation. */
export class AlreadyRevoked extends Refusal.of("AlreadyRevoked", 422, "already_revoked")<{
  readonly revoked_at: Timestamp.Timestamp
}> {
  override readonly message = `This API key was revoked at ${this.revoked_at}.`
}

export class ExpiryInThePast extends Refusal.of("ExpiryInThePast", 422, "expires_at_out_of_range")<{
  readonly expires_at: Timestamp.Timestamp
  readonly now: Timestamp.Timestamp
}> {
  override readonly message = `\`expires_at\` must be in the future; ${this.expires_at} is before ${this.now}.`
}

export class TooManyKeys extends Refusal.of("TooManyKeys", 422, "too_many_api_keys") {
  override readonly message = `An account has at most ${MAX_ACTIVE_KEYS} active API keys. Revoke one first.`
}

/** Scopes that mean something for a test key, because they are about mail. */
export const TEST_SCOPES = [
  "email:send",
  "email:logs:read",
  "events:read",
  "stats:read",
  "suppressions:read",
  "suppressions:write",
  "inbound:read",
  "inbound:write",
  "admin",
] as const satisfies ReadonlyArray<Scope.Scope>

export class ScopeNotForTestKeys extends Refusal.of("ScopeNotForTestKeys", 422, "scope_not_for_test_keys")<{
  readonly scope: Scope.Scope
}> {
  override readonly message = `A test key can have the scopes ${TEST_SCOPES.join(", ")}, not ${this.scope}: it works with test mail only.`
  readonly details = [{ path: "scopes", message: `must be among ${TEST_SCOPES.join(", ")} for a test key` }]
}

/** A key cannot live on the test clock that its request names. */
export class TestClockNotForKey extends Schema.TaggedError<TestClockNotForKey>()("TestClockNotForKey", {
  problem: Schema.Literals(["live key", "unknown clock"]),
}) {
  readonly status = 422
  get reason() {
    return this.problem === "live key" ? "test_clock_of_live_key" : "test_clock_not_found"
  }
  override get message() {
    return this.problem === "live key"
      ? "Live mail never lives on a test clock. Set `mode` to `test`, or leave `test_clock` out."
      : "This account has no such test clock. Create one with POST /v1/test/clocks."
  }
  get details(): ReadonlyArray<Refusal.Detail> {
    const message =
      this.problem === "live key" ? "is allowed for a test key only" : "must be a test clock of this account"
    return [{ path: "test_clock", message }]
  }
}

/** A parsed request to create a key. */
export interface Command {
  /** Absent for a live key. */
  readonly mode?: "test"
  /** The test clock that the mail of a test key lives on. Absent for a key on real time. */
  readonly test_clock?: Id.TestClockId
  readonly name: string
  readonly scopes: ReadonlyArray<Scope.Scope>
  readonly domain: DomainName.DomainName | null
  readonly allowed_ips: ReadonlyArray<Network.Network>
  readonly expires_at: Timestamp.Timestamp | null
}

export interface Context {
  readonly now: Timestamp.Timestamp
  readonly keyId: Id.ApiKeyId
  readonly secret: ApiKeySecret.ApiKeySecret
  /** SHA-256 of the secret. The caller computes it, because this package has no crypto library. */
  readonly hash: Sha256
  readonly createdBy: string | null
  /** Number of active keys of the account. */
  readonly active: number
  /** Whether the account has the requested test clock. */
  readonly hasClock?: boolean
}

const isForTestKeys = (scope: Scope.Scope): boolean => TEST_SCOPES.some((each) => each === scope)

type Decide<Error> = Aggregate.Decide<State, Event, Error>

export const create =
  (
    { active, now, keyId, secret, hash, createdBy, hasClock = false }: Context,
    command: Command,
  ): Decide<ExpiryInThePast | Refusal.NothingNew | ScopeNotForTestKeys | TestClockNotForKey | TooManyKeys> =>
  (state) => {
    if (state._tag === "Key") return Result.fail(new Refusal.NothingNew())
    if (active >= MAX_ACTIVE_KEYS) return Result.fail(new TooManyKeys())
    if (command.expires_at !== null && command.expires_at <= now)
      return Result.fail(new ExpiryInThePast({ expires_at: command.expires_at, now }))
    const { mode, test_clock } = command
    const scope = mode === "test" ? command.scopes.find((each) => !isForTestKeys(each)) : undefined
    if (scope !== undefined) return Result.fail(new ScopeNotForTestKeys({ scope }))
    if (test_clock !== undefined && mode !== "test") return Result.fail(new TestClockNotForKey({ problem: "live key" }))
    if (test_clock !== undefined && !hasClock) return Result.fail(new TestClockNotForKey({ problem: "unknown clock" }))
    const key = {
      key_id: keyId,
      name: command.name,
      prefix: ApiKeySecret.prefixOf(secret),
      hash,
      scopes: Scope.ALL.filter((scope) => command.scopes.includes(scope)),
      domain: command.domain,
      allowed_ips: command.allowed_ips,
      expires_at: command.expires_at,
      created_by: createdBy,
      at: now,
    }
    return Result.succeed(
      Array.of<Event>(
        mode === "test"
          ? { _tag: "TestKeyCreated", ...key, ...(test_clock === undefined ? {} : { test_clock }) }
          : { _tag: "KeyCreated", ...key },
      ),
    )
  }

export const revoke =
  (now: Timestamp.Timestamp): Decide<KeyNotFound | AlreadyRevoked> =>
  (state) => {
    if (state._tag === "NotCreated") return Result.fail(new KeyNotFound())
    return state.revoked_at === null
      ? Result.succeed(Array.of<Event>({ _tag: "KeyRevoked", at: now }))
      : Result.fail(new AlreadyRevoked({ revoked_at: state.revoked_at }))
  }
