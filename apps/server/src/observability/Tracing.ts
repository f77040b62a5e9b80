import { Effect, Layer, Option, Redacted, References, Tracer } from "effect"
import { FetchHttpClient, HttpMiddleware } from "effect/http"
import { OtlpExporter, OtlpSerialization, OtlpTracer } from "effect/observability"
import type { Settings } from "../settings/Settings.ts"
import * as Version from "../process/Version.ts"
import * as Traces from "./Traces.ts"

/** Maximum time to export the last spans when the service stops. */
const SHUTDOWN = "3 seconds"

/**
 * Exports spans to a collector if the operator has set one; otherwise no spans are made. Spans that belong to no request,
 * such as a check of an empty outbox, are not exported.
 */
export const layer = (settings: Settings): Layer.Layer<never> =>
  Option.match(settings.otlpEndpoint, {
    onNone: () => Layer.succeed(References.TracerEnabled, false),
    onSome: (endpoint) =>
      Layer.mergeAll(
        Layer.effect(Tracer.Tracer, Effect.map(exporter(settings, endpoint), ofRequests)),
        Layer.succeed(References.TracerEnabled, true),
        Layer.succeed(Traces.Share, settings.tracesShare),
        // Spans of the HTTP server would contain paths, and with them addresses.
        Layer.succeed(HttpMiddleware.TracerDisabledWhen, () => true),
      ).pipe(Layer.provide([OtlpExporter.layerFlusher, OtlpSerialization.layerJson, FetchHttpClient.layer])),
  })

const exporter = ({ otlpHeaders }: Settings, endpoint: string) =>
  OtlpTracer.make({
    url: `${endpoint.replace(/\/+$/u, "")}/v1/traces`,
    resource: { serviceName: "waybill", serviceVersion: Version.VERSION },
    headers: Option.match(otlpHeaders, { onNone: () => ({}), onSome: (text) => parse(Redacted.value(text)) }),
    shutdownTimeout: SHUTDOWN,
  })

/** Parses headers in the format of OpenTelemetry, `name=value,name=value`. */
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
