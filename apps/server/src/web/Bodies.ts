import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import type { MissingScope, Scope } from "@waybill/domain/account/Scope"
import * as MonotonicClock from "@waybill/domain/flow/MonotonicClock"
import { Context, Deferred, Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { ByteBudget, Lease, BudgetLimits } from "./ByteBudget.ts"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"

/** Maximum bytes of request bodies in memory per process, from the first byte to the end of the response. */
export const MAX_BODY_BYTES_HELD = 256 * 1024 * 1024
/** Maximum bytes per account, or per address without a key; larger than `LARGEST_MAX_BODY_BYTES`. */
export const MAX_BODY_BYTES_HELD_PER_ACCOUNT = 64 * 1024 * 1024
/** Time after which a request is admitted again once its body has arrived, because its key may have been revoked. */
export const READMITTED_AFTER_MS = 1_000

export const LIMITS: BudgetLimits = {
  total_bytes: MAX_BODY_BYTES_HELD,
  holder_bytes: MAX_BODY_BYTES_HELD_PER_ACCOUNT,
}

/** The context in which a handler reads the body of an admitted request. */
export interface ReadContext {
  /** The memory for bodies; undefined if the body is there already, translated by a door. */
  readonly budget: ByteBudget | undefined
  /** The account, or the address of a client without a key. */
  readonly holder: string
  /** Fails if the caller would not be admitted now. */
  readonly readmit: (
    scope: Scope | undefined,
  ) => Effect.Effect<void, RequestRefusal.Unauthorized | MissingScope | StoreUnavailable>
}

export const ReadContext = Context.Reference<ReadContext | undefined>("@waybill/server/http/Bodies/ReadContext", {
  defaultValue: () => undefined,
})

/** Memory for what the request in progress collects beside its body, such as fetched files. */
export const Collected = Context.Reference<Lease | undefined>("@waybill/server/http/Bodies/Collected", {
  defaultValue: () => undefined,
})

/** Runs work within the memory budget of the request in progress. */
export const collecting = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(ReadContext, (readContext) => {
    const lease = readContext?.budget?.lease(readContext.holder)
    return Effect.ensuring(
      Effect.provideService(work, Collected, lease),
      Effect.sync(() => lease?.release()),
    )
  })

/**
 * Reads the body of the request in progress within the memory budget. All handlers read bodies this way. `scope` is
 * checked again if the body took long to arrive.
 */
export const reading = <A, E, R>(
  read: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<A, E, R>,
  scope?: Scope,
) =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const readContext = yield* ReadContext
    if (readContext?.budget === undefined) return yield* read(request)
    const startedAt = yield* MonotonicClock.millis
    const incoming = NodeHttpServerRequest.toIncomingMessage(request) as IncomingMessage
    const response = NodeHttpServerRequest.toServerResponse(request) as ServerResponse
    const overBudget = counting(readContext.budget.lease(readContext.holder), incoming, response)
    if (overBudget === undefined) return yield* full
    // Not interrupted beyond the budget, because that would close the connection before the response. It ends with the
    // connection.
    const body = yield* Deferred.make<A, E>()
    yield* Effect.forkDetach(Deferred.into(read(request), body), { startImmediately: true })
    const whole = yield* Effect.raceFirst(Deferred.await(body), overBudget)
    if ((yield* MonotonicClock.millis) - startedAt > READMITTED_AFTER_MS) yield* readContext.readmit(scope)
    return whole
  })

/** Refuses a body beyond the memory budget. */
export const full = Effect.suspend(() => Effect.fail(new RequestRefusal.Overloaded({ budget: "request_bodies" })))

/**
 * Counts the bytes of an arriving body until the response is finished. Returns an effect that fails once the budget is
 * exceeded, or `undefined` if it is exceeded from the start.
 */
export const counting = (
  lease: Lease,
  incoming: IncomingMessage,
  response: ServerResponse,
): Effect.Effect<never, RequestRefusal.Overloaded> | undefined => {
  // A body whose announced length exceeds the budget is refused before it is read.
  const announced = Number(incoming.headers["content-length"] ?? 0)
  if (!lease.fits(announced) || !lease.take(incoming.readableLength)) return undefined
  response.once("close", () => lease.release())
  const overBudget = Deferred.makeUnsafe<never, RequestRefusal.Overloaded>()
  let isOverBudget = false
  // Node calls `push` with all data from the socket, whoever reads the stream.
  const push = incoming.push.bind(incoming)
  incoming.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
    if (chunk === null || response.writableFinished) return push(chunk, encoding)
    if (!isOverBudget && lease.take(chunk.length)) return push(chunk, encoding)
    isOverBudget = true
    Deferred.doneUnsafe(overBudget, full)
    return true
  }
  return Deferred.await(overBudget)
}
