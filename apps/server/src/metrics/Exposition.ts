import type { PgClient } from "@effect/sql-pg"
import type { Availability } from "@waybill/store/availability/Availability"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Network from "@waybill/mail/dns/Network"
import * as Readiness from "@waybill/store/operations/Readiness"
import { Context, Effect, Layer, Option, Result } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { createServer } from "node:http"
import * as ClientAddress from "../requests/ClientAddress.ts"
import * as Backups from "./Backups.ts"
import * as Database from "./Database.ts"
import * as Disk from "./Disk.ts"
import * as HostNames from "../process/HostNames.ts"
import * as SourceProblems from "./SourceProblems.ts"
import * as Vitals from "../observability/Vitals.ts"

const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

/** Maximum time of open connections when the service stops. */
const GRACE = "1 second"

/** Metrics of this process and its database in the format of Prometheus. */
export class Exposition extends Context.Service<Exposition, { readonly text: Effect.Effect<string> }>()(
  "@waybill/server/metrics/Exposition",
) {
  static readonly layer = (options: {
    readonly poolSize: number
    /** Folder whose disk is watched. */
    readonly data: string
    /** Folder of scheduled backups. */
    readonly backups?: string | undefined
  }): Layer.Layer<Exposition, never, Availability | PgClient.PgClient> =>
    Layer.effect(
      Exposition,
      Effect.gen(function* () {
        const vitals = yield* Vitals.make
        const database = yield* Database.make(options.poolSize)
        const sources = yield* SourceProblems.make
        const readAll = Effect.all(
          [vitals, Disk.make(options.data), Backups.make(options.backups), database, sources],
          { discard: true },
        )
        return Exposition.of({ text: Effect.andThen(readAll, PrometheusMetrics.format()) })
      }),
    )
}

/** Response to a request under a host name that is not allowed (RFC 9110 §15.5.20). */
const MISDIRECTED = HttpServerResponse.text(
  "Metrics are not served under this host name. Use an IP address, or add the name to METRICS_ALLOW_HOSTS.\n",
  { status: 421 },
)

const answer = ({ text }: Exposition["Service"], names: HostNames.HostNames) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
    HostNames.includes(names, headers["host"])
      ? Effect.map(text, (body) => HttpServerResponse.text(body, { contentType: CONTENT_TYPE }))
      : Effect.succeed(MISDIRECTED),
  )

/** Headers of a proxy. Behind a proxy that is not declared, every client seems to be on this machine. */
const PROXY_HEADERS = ["x-forwarded-for", "forwarded", "x-real-ip", "via"]

const LOOPBACK = Result.getOrThrow(Network.parseAll(["127.0.0.0/8", "::1/128"]))

export interface Readers {
  /** Undefined if the operator has not set any. */
  readonly networks: Network.Networks | undefined
  readonly trustedProxies: Network.Networks
  /** Whether a proxy stands in front of this service. */
  readonly isBehindProxy: boolean
  readonly hostNames: HostNames.HostNames
}

/**
 * Serves metrics on the API's port to the networks that the operator has set: by default this machine, unless a proxy on it
 * may pass on requests of others. All other clients get 404.
 */
export const route = (
  exposition: Exposition["Service"],
  { hostNames, isBehindProxy, networks, trustedProxies }: Readers,
): Layer.Layer<never, never, HttpRouter.HttpRouter | HttpRouter.Request<"Error", HttpServerError.HttpServerError>> => {
  const readers = networks ?? (isBehindProxy ? [] : LOOPBACK)
  return HttpRouter.add(
    "GET",
    "/metrics",
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const peer = Option.getOrUndefined(request.remoteAddress)
      const client = ClientAddress.of(peer, request.headers["x-forwarded-for"], trustedProxies)
      const isProxied = peer === client && PROXY_HEADERS.some((name) => request.headers[name] !== undefined)
      if (isProxied || !Network.contains(readers, client)) {
        return yield* new HttpServerError.HttpServerError({ reason: new HttpServerError.RouteNotFound({ request }) })
      }
      return yield* answer(exposition, hostNames)
    }),
  )
}

const healthy = HttpServerResponse.jsonUnsafe({ status: "ok" })

const ready = Effect.map(Readiness.check, ({ cells_down, problems }) =>
  problems.length === 0
    ? HttpServerResponse.jsonUnsafe({ status: "ok", ...(cells_down.length === 0 ? {} : { cells_down }) })
    : HttpServerResponse.jsonUnsafe({ status: "unavailable", problems }, { status: 503 }),
)

/** Serves metrics and health checks on a port of their own, for every role. */
export const listen = ({
  hostNames,
  ...options
}: {
  readonly host: string
  readonly port: number
  readonly hostNames: HostNames.HostNames
}) =>
  Layer.unwrap(
    Effect.map(Exposition, (exposition) =>
      HttpRouter.serve(
        Layer.mergeAll(
          HttpRouter.add("GET", "/metrics", answer(exposition, hostNames)),
          HttpRouter.add("GET", "/healthz", Effect.succeed(healthy)),
          HttpRouter.add("GET", "/readyz", ready),
        ),
        { disableLogger: true, disableListenLog: true },
      ),
    ),
  ).pipe(
    Layer.provideMerge(
      NodeHttpServer.layerServer(() => createServer(), { ...options, gracefulShutdownTimeout: GRACE }),
    ),
  )
