import * as Livemode from "@waybill/domain/account/Livemode"
import * as RateLimit from "@waybill/domain/account/RateLimit"
import { Clock, Context, Effect, Exit, Layer } from "effect"
import * as Span from "@waybill/runtime/flow/Span"
import * as Availability from "../availability/Availability.ts"
import { retryWhileAvailable } from "../availability/retryWhileAvailable.ts"
import * as RoutedClient from "../routing/RoutedClient.ts"
import * as Databases from "../routing/Databases.ts"
import * as PerDatabase from "../routing/PerDatabase.ts"
import type { AdmittedKey } from "./AdmittedKey.ts"
import * as AdmissionStatement from "./AdmissionStatement.ts"
import * as Batcher from "@waybill/runtime/flow/Batcher"
import * as PipelinedConnection from "../database/PipelinedConnection.ts"
import { KeyUses } from "./KeyUses.ts"
import * as RateWindows from "./RateWindows.ts"
import { Sql } from "../postgres/Sql.ts"
import { type StoreUnavailable, away } from "../postgres/StoreUnavailable.ts"

/** Maximum number of requests that one statement admits. */
export const MAX_REQUESTS_PER_STATEMENT = 256
/** Number of statements under way at once: while one waits for a contended window, the next one is sent. */
export const CONCURRENT_STATEMENTS = 2
/** Maximum number of waiting requests; more callers wait until a place is free. */
export const MAX_REQUESTS_WAITING = 10_000
/** How often a lost statement is sent again, where nothing watches the database. Its requests may be counted twice. */
export const MAX_RETRIES = 3

export interface Request {
  /** SHA-256 of the API key in hexadecimal; `null` when the request has none, or one that cannot be a key. */
  readonly tokenHash: string | null
  readonly bucket: RateLimit.Bucket
  /** Address of the client, behind trusted proxies. */
  readonly address: string
}

/** The decision on a request, with the state of its rate window, which every response reports. */
export type Verdict = Admitted | Unauthorized | RateLimited
export interface Admitted {
  readonly _tag: "Admitted"
  readonly key: AdmittedKey
  readonly standing: RateLimit.WindowState
}
export interface Unauthorized {
  readonly _tag: "Unauthorized"
  readonly reason: "missing" | Exclude<AdmissionStatement.GroupRow["verdict"], "valid">
  readonly standing: RateLimit.WindowState
  /** The key, if it exists and is not valid. */
  readonly key: AdmittedKey | null
}
export interface RateLimited {
  readonly _tag: "RateLimited"
  /** `null` for a client without a valid key. */
  readonly key: AdmittedKey | null
  readonly standing: RateLimit.WindowState
  readonly refusal: RateLimit.RequestRateExceeded
}

/**
 * Admits requests: one statement checks the key, its expiry, revocation and addresses and counts the rate window, for all
 * requests that wait when it is sent. A request never joins a statement that was sent before it came, so every revocation that
 * was confirmed before the request is in the statement's snapshot.
 */
export class Admission extends Context.Service<
  Admission,
  {
    readonly admit: (request: Request) => Effect.Effect<Verdict, StoreUnavailable>
  }
>()("@waybill/store/admission/Admission") {
  static readonly layer = Layer.effect(
    Admission,
    Effect.gen(function* () {
      const sql = yield* Sql
      const uses = yield* KeyUses
      const admissions = yield* PerDatabase.make(admitOne(sql, uses))
      return Admission.of({
        admit: (request) =>
          Span.around(
            request.tokenHash === null
              ? admissions.first(request)
              : Effect.flatMap(admissions.ofKey(request.tokenHash), (admit) => admit(request)),
            "Admission.admit",
          ),
      })
    }),
  )
}

/** Key of requests that are one row of the statement. */
const groupKeyOf = ({ bucket, tokenHash }: Request, { text }: RateWindows.ClientAddress): string =>
  `${tokenHash} ${bucket} ${text}`

/** Makes the admission of the fiber's database. */
const admitOne = Effect.fnUntraced(function* (sql: Sql, uses: KeyUses["Service"]) {
  const client = yield* RoutedClient.here(sql)
  const availability = yield* Availability.here
  const repeated = retryWhileAvailable(availability, MAX_RETRIES)
  const isAlone = (yield* Databases.schema) === Databases.home.name
  const admitted = isAlone ? AdmissionStatement.statement : AdmissionStatement.inTwo
  const exhausted = RateWindows.exhaustedWindows()
  const requests = yield* Batcher.make<Verdict, StoreUnavailable, PendingRequest>(
    { capacity: MAX_REQUESTS_WAITING, maxItems: () => MAX_REQUESTS_PER_STATEMENT },
    closed,
  )
  yield* Effect.addFinalizer(() => requests.close)
  yield* availability.onLost(() => Batcher.completeAll(requests.uncompleted(), Exit.fail(away())))
  yield* Effect.forEach(
    Array.from({ length: CONCURRENT_STATEMENTS }),
    // Each has a connection of its own, because a statement that waits would hold up the next one.
    Effect.fnUntraced(function* () {
      const connection = yield* PipelinedConnection.make(client, PipelinedConnection.BY_KEY)
      const deps: Deps = {
        query: (groups) => repeated(connection.run(admitted(client, groups))),
        uses,
        exhausted,
      }
      const admitBatch = Effect.flatMap(requests.take, (batch) =>
        admitAll(
          deps,
          batch.filter(({ isCompleted }) => !isCompleted()),
        ),
      )
      yield* Effect.forkScoped(Effect.forever(admitBatch), { startImmediately: true })
    }),
    { discard: true },
  )
  return (request: Request): Effect.Effect<Verdict, StoreUnavailable> =>
    Effect.withFiber((fiber) => {
      const address = RateWindows.clientAddress(request.address)
      if (request.tokenHash === null) {
        const nanos = fiber.getRef(Clock.Clock).monotonicTimeNanosUnsafe()
        const refused = refuseExhausted(exhausted.get(address.bucket), request, nanos)
        if (refused !== undefined) return Effect.succeed(refused)
      }
      if (availability.problem() !== undefined) return Effect.fail(away())
      const groupKey = groupKeyOf(request, address)
      return requests.submit((complete, isCompleted) => ({ groupKey, request, address, complete, isCompleted }))
    })
})

const closed = Exit.die(new Error("admission is closed"))

interface PendingRequest {
  /** Equal for requests that are one row of the statement. */
  readonly groupKey: string
  readonly request: Request
  readonly address: RateWindows.ClientAddress
  readonly complete: (verdict: Exit.Exit<Verdict, StoreUnavailable>) => void
  readonly isCompleted: () => boolean
}

interface Deps {
  readonly query: (
    groups: ReadonlyArray<AdmissionStatement.RequestGroup>,
  ) => Effect.Effect<ReadonlyArray<AdmissionStatement.GroupRow>, StoreUnavailable>
  readonly uses: KeyUses["Service"]
  readonly exhausted: RateWindows.ExhaustedWindows
}

const admitAll = (deps: Deps, batch: ReadonlyArray<PendingRequest>): Effect.Effect<void> =>
  decideAll(deps, batch).pipe(
    Effect.onExit((exit) =>
      Effect.sync(() => {
        if (Exit.isFailure(exit)) Batcher.completeAll(batch, Exit.failCause(exit.cause))
      }),
    ),
    Effect.ignoreCause,
  )

const decideAll = Effect.fnUntraced(function* (deps: Deps, batch: ReadonlyArray<PendingRequest>) {
  if (batch.length === 0) return
  const byKey = Map.groupBy(batch, ({ groupKey }) => groupKey)
  const groups = [...byKey.values()].map((requests) => groupOf(deps.exhausted, requests))
  const sent_nanos = yield* Clock.monotonicTimeNanos
  const rows = yield* deps.query(groups)
  const rowByKey = new Map([...byKey.keys()].map((groupKey, i) => [groupKey, rows[i]]))

  // Number of requests that each window had counted before this batch.
  const counts = new Map<string, number>()
  for (const [i, row] of rows.entries()) {
    const counted = row.total === null ? 0 : (groups[i]?.requests ?? 0)
    counts.set(row.window_name, (counts.get(row.window_name) ?? row.total ?? row.limit_count) - counted)
    rememberIfExhausted(deps.exhausted, groups[i], row, sent_nanos)
  }
  for (const { complete, groupKey, request } of batch) {
    const row = rowByKey.get(groupKey)
    if (row === undefined) return yield* Effect.die(new Error("the statement returned too few rows"))
    // Requests of one window are counted in the order of their arrival.
    const count = (counts.get(row.window_name) ?? 0) + 1
    counts.set(row.window_name, count)
    const verdict = verdictOf(request, row, count)
    if (verdict._tag === "Admitted")
      deps.uses.note(Livemode.liveAccountOf(verdict.key.account_id), verdict.key.id, row.now_ms)
    complete(Exit.succeed(verdict))
  }
})

const keyWindow = (hash: string | null, bucket: RateLimit.Bucket): string => `${hash}/${bucket}`

const groupOf = (
  exhausted: RateWindows.ExhaustedWindows,
  requests: ReadonlyArray<PendingRequest>,
): AdmissionStatement.RequestGroup => {
  const { address, request } = requests[0] as PendingRequest
  return {
    hash: request.tokenHash,
    bucket: request.bucket,
    address: address.text,
    anonymousWindow: address.bucket,
    requests: requests.length,
    exhaustedKey: exhausted.get(keyWindow(request.tokenHash, request.bucket)),
    exhaustedAnonymous: exhausted.get(address.bucket),
  }
}

const rememberIfExhausted = (
  exhausted: RateWindows.ExhaustedWindows,
  group: AdmissionStatement.RequestGroup | undefined,
  row: AdmissionStatement.GroupRow,
  sent_nanos: bigint,
): void => {
  if (group === undefined || row.total === null || row.total < row.limit_count) return
  // Measured from when the statement was sent, so that the window never ends later here than on the database's clock.
  const left_ms = RateLimit.windowEnd(row.now_ms) - row.now_ms
  exhausted.remember(row.verdict === "valid" ? keyWindow(group.hash, group.bucket) : group.anonymousWindow, {
    window_ms: RateLimit.windowStart(row.now_ms),
    limit: row.limit_count,
    ends_nanos: sent_nanos + BigInt(left_ms) * 1_000_000n,
  })
}

const verdictOf = (request: Request, row: AdmissionStatement.GroupRow, count: number): Verdict => {
  const standing = RateLimit.windowState(row.limit_count, count, row.now_ms)
  const known = keyOf(row)
  const key = row.verdict === "valid" ? known : null
  if (count > row.limit_count) return rateLimited(key, request.bucket, row.limit_count, row.now_ms)
  if (key !== null) return { _tag: "Admitted", key, standing }
  const reason = row.verdict === "valid" || request.tokenHash === null ? "missing" : row.verdict
  return { _tag: "Unauthorized", reason, standing, key: known }
}

const keyOf = (row: AdmissionStatement.GroupRow): AdmittedKey | null => {
  const { account_id, domain, key_id, mode, scopes, test_clock } = row
  if (account_id === null || key_id === null || scopes === null) return null
  const owner = mode === "test" ? Livemode.testAccountOf(account_id) : account_id
  return { id: key_id, account_id: owner, scopes, domain, ...(test_clock === null ? {} : { test_clock }) }
}

const rateLimited = (
  key: AdmittedKey | null,
  bucket: RateLimit.Bucket,
  limit: number,
  now_ms: number,
): RateLimited => ({
  _tag: "RateLimited",
  key,
  standing: RateLimit.windowState(limit, limit, now_ms),
  refusal: new RateLimit.RequestRateExceeded({ bucket, limit, retry_after_s: RateLimit.retryAfterSeconds(now_ms) }),
})

/** Refuses a request without a key whose address is known to be over its limit, without a query. */
const refuseExhausted = (
  window: RateWindows.ExhaustedWindow | undefined,
  { bucket }: Request,
  nanos: bigint,
): RateLimited | undefined => {
  if (window === undefined || nanos >= window.ends_nanos) return undefined
  const end_ms = RateLimit.windowEnd(window.window_ms)
  const now_ms = Math.min(Math.floor(end_ms - Number(window.ends_nanos - nanos) / 1e6), end_ms - 1)
  return rateLimited(null, bucket, window.limit, now_ms)
}
