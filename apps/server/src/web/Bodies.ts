import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import type { MissingScope, Scope } from "@waybill/domain/account/Scope"
import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import { ByteSize, Context, Deferred, Effect } from "effect"
import { HttpIncomingMessage, type HttpServerError, HttpServerRequest } from "effect/http"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import type { ByteBudget, Lease, BudgetLimits } from "./ByteBudget.ts"
import { HeldRequest } from "./HeldRequest.ts"

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
  /** The memory for bodies. */
  readonly budget: ByteBudget
  /** The account, or the address of a client without a key. */
  readonly holder: string
  /** Fails if the caller would not be admitted now. */
  readonly readmit: (
    scope: Scope | undefined,
  ) => Effect.Effect<void, RequestRefusal.Unauthorized | MissingScope | StoreUnavailable>
}

export const ReadContext = Context.Reference<ReadContext | undefined>("@waybill/server/web/Bodies/ReadContext", {
  defaultValue: () => undefined,
})

/** Memory for what the request in progress collects beside its body, such as fetched files. */
export const Collected = Context.Reference<Lease | undefined>("@waybill/server/web/Bodies/Collected", {
  defaultValue: () => undefined,
})

/** Runs work within the memory budget of the request in progress. */
export const collecting = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(ReadContext, (readContext) => {
    const lease = readContext?.budget.lease(readContext.holder)
    return Effect.ensuring(
      Effect.provideService(work, Collected, lease),
      Effect.sync(() => lease?.release()),
    )
  })

/**
 * Reads the body of the request in progress within the memory budget, and returns the request with it. All handlers read
 * bodies this way. `scope` is checked again if the body took long to arrive.
 */
export const read = (scope?: Scope) =>
  Effect.contextWith((context: Context.Context<HttpServerRequest.HttpServerRequest>) => {
    const request = Context.get(context, HttpServerRequest.HttpServerRequest)
    if (request instanceof HeldRequest) return Effect.succeed(request)
    const readContext = Context.get(context, ReadContext)
    if (readContext === undefined) return Effect.map(request.arrayBuffer, (bytes) => held(request, bytes))
    const lease = readContext.budget.lease(readContext.holder)
    const incoming = NodeHttpServerRequest.toIncomingMessage(request) as IncomingMessage
    const response = NodeHttpServerRequest.toServerResponse(request) as ServerResponse
    if (!hasArrived(incoming, Context.get(context, HttpIncomingMessage.MaxBodySize)))
      return arriving(request, counting(lease, incoming, response), readContext, scope)
    if (!lease.take(incoming.readableLength)) return full
    response.once("close", () => lease.release())
    return Effect.succeed(new HeldRequest(request, incoming.read() as Buffer, request))
  })

/** Whether a body is in memory as a whole, as most are when their request is admitted. */
const hasArrived = ({ complete, readableLength }: IncomingMessage, most: ByteSize.ByteSize | undefined): boolean =>
  complete && readableLength > 0 && (most === undefined || readableLength <= ByteSize.toNumberUnsafe(most))

const held = (request: HttpServerRequest.HttpServerRequest, bytes: ArrayBuffer) =>
  new HeldRequest(request, Buffer.from(bytes), request)

/** Reads a body that is still under way, until its end or until the budget is exceeded. */
const arriving = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest,
  overBudget: Effect.Effect<never, RequestRefusal.Overloaded> | undefined,
  { readmit }: ReadContext,
  scope: Scope | undefined,
) {
  if (overBudget === undefined) return yield* full
  const startedAt = yield* MonotonicClock.millis
  // Not interrupted beyond the budget, because that would close the connection before the response. It ends with the
  // connection.
  const body = yield* Deferred.make<ArrayBuffer, HttpServerError.HttpServerError>()
  yield* Effect.forkDetach(Deferred.into(request.arrayBuffer, body), { startImmediately: true })
  const bytes = yield* Effect.raceFirst(Deferred.await(body), overBudget)
  if ((yield* MonotonicClock.millis) - startedAt > READMITTED_AFTER_MS) yield* readmit(scope)
  return held(request, bytes)
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
