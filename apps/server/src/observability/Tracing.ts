import { Effect, Layer, Option, Redacted, References, Tracer } from "effect"
import { FetchHttpClient, HttpMiddleware } from "effect/http"
import { OtlpExporter, OtlpSerialization, OtlpTracer } from "effect/observability"
import type { Settings } from "../boot/Settings.ts"
import { VERSION } from "../boot/Version.ts"
import * as Traces from "./Traces.ts"

/** How long the last spans may take to leave when the service stops. */
const SHUTDOWN = "3 seconds"

/**
 * Spans to a collector where the operator names one; otherwise none are made at all. What belongs to no request, such as
 * a look at an empty outbox, is made and left unsent: nobody would look at it, and there is much of it.
 */
export const layer = (settings: Settings): Layer.Layer<never> =>
  Option.match(settings.otlpEndpoint, {
    onNone: () => Layer.succeed(References.TracerEnabled, false),
    onSome: (endpoint) =>
      Layer.mergeAll(
        Layer.effect(Tracer.Tracer, Effect.map(exporter(settings, endpoint), ofRequests)),
        Layer.succeed(References.TracerEnabled, true),
        Layer.succeed(Traces.Share, settings.tracesShare),
        // Its spans would hold paths, and with them addresses.
        Layer.succeed(HttpMiddleware.TracerDisabledWhen, () => true),
      ).pipe(Layer.provide([OtlpExporter.layerFlusher, OtlpSerialization.layerJson, FetchHttpClient.layer])),
  })

const exporter = ({ otlpHeaders }: Settings, endpoint: string) =>
  OtlpTracer.make({
    url: `${endpoint.replace(/\/+$/u, "")}/v1/traces`,
    resource: { serviceName: "waybill", serviceVersion: VERSION },
    headers: Option.match(otlpHeaders, { onNone: () => ({}), onSome: (text) => parse(Redacted.value(text)) }),
    shutdownTimeout: SHUTDOWN,
  })

/** `name=value,name=value`, as OpenTelemetry writes them. */
const parse = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split(",").flatMap((part) => {
      const at = part.indexOf("=")
      return at < 1 ? [] : [[part.slice(0, at).trim(), decodeURIComponent(part.slice(at + 1).trim())]]
    }),
  )

const ofRequests = (tracer: Tracer.Tracer): Tracer.Tracer =>
  Tracer.make({
    span: (options) => tracer.span({ ...options, sampled: options.sampled && Option.isSome(options.parent) }),
  })
