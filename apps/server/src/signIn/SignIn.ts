import type { PgClient } from "@effect/sql-pg"
import * as Id from "@waybill/domain/values/Id"
import * as Team from "@waybill/domain/account/Team"
import { EventStore } from "@waybill/store/commit/EventStore"
import { InstanceKey } from "@waybill/store/secrets/InstanceKey"
import * as Members from "@waybill/store/readmodels/Members"
import { Provenance } from "@waybill/store/log/Provenance"
import * as SecondFactors from "@waybill/store/users/SecondFactors"
import * as SignInTries from "@waybill/store/users/SignInTries"
import * as Users from "@waybill/store/users/Users"
import { Clock, Context, Data, DateTime, Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { KEEPALIVE } from "@waybill/store/postgres/Sockets"
import pg from "pg"
import * as Stop from "../process/Stop.ts"
import * as NewIds from "../process/NewIds.ts"
import type { BetterAuth } from "./BetterAuth.ts"
import * as LibraryLog from "./LibraryLog.ts"
import { shareLookups } from "./shareLookups.ts"
import { type GuardStore, LINK_HOURS, LINK_PATH, type Options, urlsOf, TRIES_PER_MINUTE } from "./Options.ts"

/** Maximum number of connections for signing in. */
export const CONNECTIONS = 3
/** Delay before the library is loaded, which blocks the process, so that the first page is served before. */
export const WARM_AFTER = "1 second"
/** Random bytes of a link's token, a third more than those of a session token. */
const LINK_BYTES = 24

interface Setup {
  readonly url: string
  readonly database: Redacted.Redacted
  readonly oidc?: Options["oidc"]
}

/** A failure of the library or its driver, with the kind and code of the error only, since its message may quote rows. */
class LibraryFailed extends Data.TaggedError("LibraryFailed")<{ readonly message: string }> {
  static readonly of = (error: unknown) => {
    const failed = new LibraryFailed({ message: `the sign-in library failed: ${LibraryLog.kindOf(error)}` })
    // Stack frames contain files and lines, and no values.
    const frames = error instanceof Error ? (error.stack ?? "").split("\n").filter((line) => /^\s+at /u.test(line)) : []
    if (frames.length > 0) failed.stack = [String(failed), ...frames].join("\n")
    return failed
  }
}

/**
 * Signs people in to the dashboard. The library behind it is loaded at the first request that needs it, so that a start
 * does not wait for it.
 */
export class SignIn extends Context.Service<
  SignIn,
  {
    /** Answers a request below /auth. */
    readonly handle: (request: Request) => Effect.Effect<Response>
    /** Returns the user and session of a request's cookies, if the session is valid now. */
    readonly userOf: (
      cookies: string,
    ) => Effect.Effect<Option.Option<{ readonly user_id: Id.UserId; readonly session_id: string }>>
    /** Creates a link that sets the password of a user, once. */
    readonly link: (user_id: Id.UserId) => Effect.Effect<string>
    /** Loads the library in the background. */
    readonly warm: Effect.Effect<void>
    /** URLs under which browsers reach the service. */
    readonly urls: ReturnType<typeof urlsOf>
    readonly oidc: boolean
  }
>()("@waybill/server/signIn/SignIn") {
  static readonly layer = (setup: Setup) => Layer.effect(SignIn, make(setup))
}

const make = Effect.fnUntraced(function* ({ database, oidc, url }: Setup) {
  const services = yield* Effect.context<EventStore | PgClient.PgClient>()
  const keyring = yield* InstanceKey
  const run = Effect.runPromiseWith(services)
  const pool = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const pool = new pg.Pool({
        ...KEEPALIVE,
        connectionString: Redacted.value(database),
        max: CONNECTIONS,
        application_name: "waybill sign-in",
      })
      // The library compares times as dates. Set after connecting, since a pooler refuses such start-up parameters.
      pool.on("connect", (client) => {
        client.query("SET timezone = 'UTC'; SET statement_timeout = '15s'").catch(() => {})
      })
      // An idle connection that breaks is replaced; the next request fails if that is not possible.
      pool.on("error", () => {})
      return pool
    }),
    (pool) =>
      Stop.within(
        Effect.promise(() => pool.end()),
        "1 second",
      ),
  )
  const urls = urlsOf(url)
  const options: Options = {
    ...urls,
    oidc,
    secret: Buffer.from(keyring.derive("sign-in")[0] ?? new Uint8Array()).toString("base64"),
    beforeSession: ({ userId }) =>
      run(Effect.map(Members.find(userId), (member) => (Option.isNone(member) ? (false as const) : undefined))),
    afterSession: ({ userId }) => run(Effect.andThen(Users.endOldestSessions(userId), recordJoin(userId))),
    endSessions: (userId) => run(Users.endSessions(userId)),
    proofs: {
      version: (user_id) => run(Users.proofVersion(user_id)),
      end: (user_id) => run(Users.endProofs(user_id)),
      endSession: (id) => run(Users.endSession(id)),
      endVerification: (id) => run(Users.endVerification(id)),
    },
    guards: {
      now_ms: () => run(Clock.currentTimeMillis),
      identities: (email) => run(Users.identities(email)),
      allows: (tries, user_id) =>
        run(Effect.map(SignInTries.count([`${tries}/${user_id}`]), ({ total }) => total <= TRIES_PER_MINUTE)),
      authenticatorOf: (user_id) => run(SecondFactors.authenticatorOf(user_id)),
      acceptCounter: (credential_id, counter) => run(SecondFactors.acceptCounter(credential_id, counter)),
      acceptStep: (factor_id, step) => run(SecondFactors.acceptStep(factor_id, step)),
    } satisfies GuardStore,
    log: (level, message, ...more) => void run(LibraryLog.write(level, message, more)),
  }
  let library: Promise<BetterAuth> | undefined
  const load = () => (library ??= import("./BetterAuth.ts").then(({ make }) => make(options, pool)))
  const auth = Effect.promise(load)
  const sessionOf = shareLookups(async (cookie) =>
    (await load()).api.getSession({ headers: new Headers({ cookie }), query: { disableRefresh: true } }),
  )

  return SignIn.of({
    handle: (request) =>
      Effect.flatMap(auth, ({ handler }) =>
        // The library says only that it failed, and not whether the database can be used.
        Effect.orDie(Effect.tryPromise({ try: () => handler(request), catch: LibraryFailed.of })),
      ),
    userOf: (cookies) =>
      Effect.map(
        // The library says only that it failed.
        Effect.orDie(Effect.tryPromise({ try: () => sessionOf(cookies), catch: LibraryFailed.of })),
        (session) =>
          session === null
            ? Option.none()
            : Option.some({ user_id: Id.UserId.make(session.user.id), session_id: session.session.id }),
      ),
    link: Effect.fnUntraced(function* (user_id) {
      const { internalAdapter } = yield* Effect.flatMap(auth, ({ $context }) => Effect.promise(() => $context))
      const token = Buffer.from(SecureRandom.randomBytesUnsafe(LINK_BYTES)).toString("base64url")
      const expiresAt = DateTime.toDateUtc(DateTime.add(yield* DateTime.now, { hours: LINK_HOURS }))
      yield* Effect.promise(() =>
        internalAdapter.createVerificationValue({
          value: user_id,
          identifier: `${Users.LINK_PREFIX}${token}`,
          expiresAt,
        }),
      )
      // After the hash sign, so that the token is in no server log and no referrer.
      return `${urls.url}${LINK_PATH}#${token}`
    }),
    warm: Effect.asVoid(Effect.forkDetach(Effect.ignoreCause(Effect.delay(auth, WARM_AFTER)))),
    urls,
    oidc: oidc !== undefined,
  })
})

/** Records that an invited member has joined, at the first sign-in. */
const recordJoin = Effect.fnUntraced(function* (userId: string) {
  const member = yield* Members.find(userId)
  if (Option.isNone(member) || member.value.status === "active") return
  const { account_id, user_id } = member.value
  const store = yield* EventStore
  yield* store.commit(Team, { account_id, stream_id: Team.STREAM_ID }, Team.join(yield* NewIds.now, user_id)).pipe(
    Effect.catchTag("MemberNotFound", () => Effect.void),
    Effect.provideService(Provenance, {
      actor: { type: "user", id: user_id },
      request_id: null,
      correlation_id: null,
      causation_id: null,
      address: null,
    }),
  )
  // Links are for invited members; a remaining one could be used to set this member's password later.
  yield* Users.dropLinks(user_id)
})
