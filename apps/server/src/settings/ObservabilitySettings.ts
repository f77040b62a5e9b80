import { Config, LogLevel, Schema, SchemaTransformation } from "effect"
import { HostName } from "../process/HostNames.ts"
import { HttpAddress, ListOf, NetworksIfSet, ifSet, secretIfSet, setting, text } from "./Setting.ts"

const LEVELS = LogLevel.values

/** A level in any case: `info` as well as `Info`. */
const LevelInAnyCase = Schema.String.pipe(
  Schema.decodeTo(
    Schema.Literals(LEVELS),
    SchemaTransformation.transform({
      decode: (text) => `${text.slice(0, 1).toUpperCase()}${text.slice(1).toLowerCase()}` as LogLevel.LogLevel,
      encode: (level) => level,
    }),
  ),
)

/** Settings of metrics, traces and logs. */
export const TABLE = {
  metricsPort: ifSet(
    "METRICS_PORT",
    "Port that serves /metrics of this process for Prometheus, and /healthz and /readyz. Off when unset.",
    Config.Port,
  ),
  metricsHost: text(
    "METRICS_HOST",
    "Address of METRICS_PORT. Every client that can connect to it can read the metrics.",
    "127.0.0.1",
  ),
  metricsAllowNetworks: setting(
    "METRICS_ALLOW_NETWORKS",
    "Networks (CIDR, comma-separated, or none) that may read /metrics on PORT.",
    "this machine; none if BASE_URL or TRUSTED_PROXIES is set",
    NetworksIfSet("METRICS_ALLOW_NETWORKS"),
  ),
  metricsAllowHosts: setting(
    "METRICS_ALLOW_HOSTS",
    "Host names (comma-separated) under which /metrics may be requested, besides IP addresses, names without a dot and BASE_URL.",
    "none",
    ListOf("METRICS_ALLOW_HOSTS", HostName),
  ),
  otlpEndpoint: ifSet(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTLP collector (HTTP with JSON) to export traces to, such as http://127.0.0.1:4318. No traces when unset.",
    HttpAddress,
  ),
  otlpHeaders: secretIfSet("OTEL_EXPORTER_OTLP_HEADERS", "Headers for the collector, as name=value,name=value."),
  tracesShare: setting(
    "OTEL_TRACES_SAMPLER_ARG",
    "Share of requests to trace, from 0 to 1. A traced request includes the work that it causes later.",
    "1",
    Config.schema(Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: 1 })), "OTEL_TRACES_SAMPLER_ARG").pipe(
      Config.withDefault(1),
    ),
  ),
  logLevel: setting(
    "LOG_LEVEL",
    `Minimum level of log lines, in any case: ${LEVELS.slice(0, -1).join(", ")} or ${LEVELS.at(-1)}.`,
    "Info",
    Config.schema(LevelInAnyCase, "LOG_LEVEL").pipe(Config.withDefault("Info" as LogLevel.LogLevel)),
  ),
} as const
