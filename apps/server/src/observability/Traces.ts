import type * as Provenance from "@waybill/store/commit/Provenance"
import { Context, Effect, Option, References, Tracer } from "effect"
import { Headers, HttpTraceContext } from "effect/http"

/** Crockford's alphabet, as ids are written in it. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
const TRACE_BITS = 128n
const ID_CHARS = 26
/** A span whose parent has no id is a root; each thing that a request leads to is one of its trace's roots. */
const NO_SPAN = ""
const SAMPLE_CHARS = 8

/** Which share of requests is traced, with all that follows from each. */
export const Share = Context.Reference<number>("@waybill/server/observability/Share", { defaultValue: () => 1 })

/** An id is 128 bits, and so is the name of a trace: whoever has a request's id has its trace, on every node. */
export const traceIdOf = (id: string): string => {
  let bits = 0n
  for (const char of id.slice(-ID_CHARS)) bits = (bits << 5n) | BigInt(Math.max(0, ALPHABET.indexOf(char)))
  return (bits & ((1n << TRACE_BITS) - 1n)).toString(16).padStart(32, "0")
}

/** The end of an id is random, so it draws lots, and every node draws the same. */
const isSampled = (traceId: string, share: number): boolean =>
  Number.parseInt(traceId.slice(-SAMPLE_CHARS), 16) < share * 2 ** (4 * SAMPLE_CHARS)

/** A stack would lead to this file. */
const WITHOUT_STACK = { captureStackTrace: false }

const within = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  requestId: string,
  name: string,
  options: Pick<Tracer.SpanOptionsNoTrace, "kind" | "attributes" | "links">,
): Effect.Effect<A, E, R> =>
  Effect.flatMap(Share, (share) => {
    const traceId = traceIdOf(requestId)
    const parent = Tracer.externalSpan({ traceId, spanId: NO_SPAN, sampled: isSampled(traceId, share) })
    const all = { ...options, parent, ...WITHOUT_STACK }
    // The parent is given here, so nobody has to.
    return Effect.withSpan(effect, name, all) as Effect.Effect<A, E, R>
  })

const whenTraced = <A, E, R>(effect: Effect.Effect<A, E, R>, traced: () => Effect.Effect<A, E, R>) =>
  Effect.flatMap(References.TracerEnabled, (isEnabled) => (isEnabled ? traced() : effect))

/** A request by its id, linked to the caller's own trace where he has told of one. */
export const ofRequest = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  requestId: string,
  method: string | undefined,
  headers: Readonly<Record<string, unknown>>,
): Effect.Effect<A, E, R> =>
  whenTraced(effect, () => {
    const theirs = Option.toArray(HttpTraceContext.fromHeaders(Headers.fromInput(textual(headers))))
    return within(effect, requestId, "request", {
      kind: "server",
      attributes: { "http.request.method": method, "waybill.request_id": requestId },
      links: theirs.map((span) => ({ span, attributes: {} })),
    })
  })

const textual = (headers: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    ["traceparent", "tracestate"].flatMap((name) => (typeof headers[name] === "string" ? [[name, headers[name]]] : [])),
  )

/** What the log says has led here: the work goes on in the trace, and under the id, of the request that it began with. */
export const following = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  origin: Pick<Provenance.Provenance, "correlation_id">,
  name: string,
  attributes: Readonly<Record<string, unknown>>,
): Effect.Effect<A, E, R> => {
  const { correlation_id } = origin
  if (correlation_id === null) return effect
  const named = Effect.annotateLogs(effect, "request_id", correlation_id)
  return whenTraced(named, () => within(named, correlation_id, name, { kind: "consumer", attributes }))
}
