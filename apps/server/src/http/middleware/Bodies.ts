import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Overloaded, type Unauthorized } from "@waybill/api/errors/RequestRefusal"
import type { MissingScope, Scope } from "@waybill/domain/account/Scope"
import * as SteadyClock from "@waybill/domain/values/SteadyClock"
import { Context, Deferred, Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { ByteBudget, Lease, Limits } from "./ByteBudget.ts"

/** Bodies of requests under way in one process, from their first byte to the end of their answer. */
export const MAX_BODY_BYTES_HELD = 256 * 1024 * 1024
/** The same for one account, or one address without a key: more than `LARGEST_MAX_BODY_BYTES`. */
export const MAX_BODY_BYTES_HELD_PER_ACCOUNT = 64 * 1024 * 1024
/** A body that took longer to arrive may have outlived its key, so the request is admitted again. */
export const READMITTED_AFTER_MS = 1_000

export const LIMITS: Limits = {
  total_bytes: MAX_BODY_BYTES_HELD,
  holder_bytes: MAX_BODY_BYTES_HELD_PER_ACCOUNT,
}

/** What the edge knows about a request whose body may be read further in. */
export interface Intake {
  readonly budget: ByteBudget
  /** The account, or the address of a client without a key. */
  readonly holder: string
  /** Fails if the caller would not be admitted any more. */
  readonly readmit: (scope: Scope | undefined) => Effect.Effect<void, Unauthorized | MissingScope>
}

export const Intake = Context.Reference<Intake | undefined>("@waybill/server/http/Bodies/Intake", {
  defaultValue: () => undefined,
})

/**
 * Reads the body of the request under way, within the common budget. Every handler that reads a body reads it this way;
 * `scope` is what the caller has to have still, when the body was long in coming.
 */
export const reading = <A, E, R>(
  read: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<A, E, R>,
  scope?: Scope,
) =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const intake = yield* Intake
    if (intake === undefined) return yield* read(request)
    const began = yield* SteadyClock.millis
    const incoming = NodeHttpServerRequest.toIncomingMessage(request) as IncomingMessage
    const response = NodeHttpServerRequest.toServerResponse(request) as ServerResponse
    const tooMuch = counting(intake.budget.lease(intake.holder), incoming, response)
    if (tooMuch === undefined) return yield* full
    // Not interrupted where it is too much: that would end the connection before the answer. It ends with the connection.
    const body = yield* Deferred.make<A, E>()
    yield* Effect.forkDetach(Deferred.into(read(request), body), { startImmediately: true })
    const whole = yield* Effect.raceFirst(Deferred.await(body), tooMuch)
    if ((yield* SteadyClock.millis) - began > READMITTED_AFTER_MS) yield* intake.readmit(scope)
    return whole
  })

/** Refuses a body that the budget has no place for. */
export const full = Effect.suspend(() => Effect.fail(new Overloaded({ budget: "request_bodies" })))

/**
 * Counts what comes in of a body until its request is answered. The effect fails once it is too much; there is none where
 * it would be too much from the beginning.
 */
export const counting = (
  lease: Lease,
  incoming: IncomingMessage,
  response: ServerResponse,
): Effect.Effect<never, Overloaded> | undefined => {
  // What is announced and could not fit is not even begun.
  const announced = Number(incoming.headers["content-length"] ?? 0)
  if (!lease.fits(announced) || !lease.take(incoming.readableLength)) return undefined
  response.once("close", () => lease.release())
  const tooMuch = Deferred.makeUnsafe<never, Overloaded>()
  let isTooMuch = false
  // This is where Node puts what it has read from the socket, whoever takes it from there.
  const push = incoming.push.bind(incoming)
  incoming.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
    if (chunk === null || response.writableFinished) return push(chunk, encoding)
    if (!isTooMuch && lease.take(chunk.length)) return push(chunk, encoding)
    isTooMuch = true
    Deferred.doneUnsafe(tooMuch, full)
    return true
  }
  return Deferred.await(tooMuch)
}
