import type * as Provenance from "@waybill/store/log/Provenance"
import { Context, Effect, Option, References, Tracer } from "effect"
import { Headers, HttpTraceContext } from "effect/http"

/** Crockford's alphabet, in which ids are written. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
const TRACE_BITS = 128n
const ID_CHARS = 26
/** Id of no span. Everything that a request leads to is a root of the request's trace. */
const NO_SPAN = ""
const SAMPLE_CHARS = 8

/** Share of requests that are traced, with everything that follows from them. */
export const Share = Context.Reference<number>("@waybill/server/observability/Traces/Share", { defaultValue: () => 1 })

/** Returns the id of a request's trace: the 128 bits of the request's id, so that all nodes have the same. */
export const traceIdOf = (id: string): string => {
  let bits = 0n
  for (const char of id.slice(-ID_CHARS)) bits = (bits << 5n) | BigInt(Math.max(0, ALPHABET.indexOf(char)))
  return (bits & ((1n << TRACE_BITS) - 1n)).toString(16).padStart(32, "0")
}

/** Whether a trace is sampled, by the random end of its id, so that all nodes decide the same. */
const isSampled = (traceId: string, share: number): boolean =>
  Number.parseInt(traceId.slice(-SAMPLE_CHARS), 16) < share * 2 ** (4 * SAMPLE_CHARS)

/** The stack would only show this file. */
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
    // The parent is set here, so the effect does not require one.
    return Effect.withSpan(effect, name, all) as Effect.Effect<A, E, R>
  })

const whenTraced = <A, E, R>(effect: Effect.Effect<A, E, R>, traced: () => Effect.Effect<A, E, R>) =>
  Effect.flatMap(References.TracerEnabled, (isEnabled) => (isEnabled ? traced() : effect))

/** Runs a request in its trace, linked to the trace of the caller if its headers name one. */
export const ofRequest = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  requestId: string,
  method: string | undefined,
  headers: Readonly<Record<string, unknown>>,
): Effect.Effect<A, E, R> =>
  whenTraced(effect, () => {
    const callers = Option.toArray(HttpTraceContext.fromHeaders(Headers.fromInput(textual(headers))))
    return within(effect, requestId, "request", {
      kind: "server",
      attributes: { "http.request.method": method, "waybill.request_id": requestId },
      links: callers.map((span) => ({ span, attributes: {} })),
    })
  })

const textual = (headers: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    ["traceparent", "tracestate"].flatMap((name) => (typeof headers[name] === "string" ? [[name, headers[name]]] : [])),
  )

/** Runs work in the trace, and with the log annotation, of the request that led to it. */
export const inTraceOf = <A, E, R>(
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
