import type { PgClient } from "@effect/sql-pg"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Network from "@waybill/mail/dns/Network"
import * as Readiness from "@waybill/store/operations/Readiness"
import { Context, Effect, Layer, Option, Result } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { createServer } from "node:http"
import * as ClientAddress from "../http/middleware/ClientAddress.ts"
import * as Database from "./Database.ts"
import * as Disk from "./Disk.ts"
import * as HostNames from "./HostNames.ts"
import * as Vitals from "./Vitals.ts"

const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

/** Who reads numbers is told at once; nobody waits for them when the service stops. */
const GRACE = "1 second"

/** All numbers of this process as Prometheus reads them, and those of the database that it works on. */
export class Exposition extends Context.Service<Exposition, { readonly text: Effect.Effect<string> }>()(
  "@waybill/server/observability/Exposition",
) {
  static readonly layer = (options: {
    readonly poolSize: number
    /** The folder whose disk must not run full. */
    readonly data: string
  }): Layer.Layer<Exposition, never, PgClient.PgClient> =>
    Layer.effect(
      Exposition,
      Effect.gen(function* () {
        const vitals = yield* Vitals.make
        const database = yield* Database.make(options.poolSize)
        const look = Effect.all([vitals, Disk.make(options.data), database], { discard: true })
        return Exposition.of({ text: Effect.andThen(look, PrometheusMetrics.format()) })
      }),
    )
}

/** RFC 9110 §15.5.20: the request was led to a server that does not answer for its name. */
const MISDIRECTED = HttpServerResponse.text(
  "The numbers are not shown under this host name. Ask by address, or name it in METRICS_ALLOW_HOSTS.\n",
  { status: 421 },
)

const answer = ({ text }: Exposition["Service"], names: HostNames.HostNames) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
    HostNames.includes(names, headers["host"])
      ? Effect.map(text, (body) => HttpServerResponse.text(body, { contentType: CONTENT_TYPE }))
      : Effect.succeed(MISDIRECTED),
  )

/** A proxy that nobody has declared makes everybody look like this machine, but leaves its marks. */
const MARKS = ["x-forwarded-for", "forwarded", "x-real-ip", "via"]

const LOOPBACK = Result.getOrThrow(Network.parseAll(["127.0.0.0/8", "::1/128"]))

export interface Readers {
  /** Undefined where the operator has not decided. */
  readonly networks: Network.Networks | undefined
  readonly trustedProxies: Network.Networks
  /** Something stands before this service and answers for it. */
  readonly isBehindProxy: boolean
  readonly hostNames: HostNames.HostNames
}

/**
 * On the API's own port, for those in the networks that the operator names. Before he has decided, that is this machine,
 * as long as nothing suggests that a proxy on this machine speaks for the rest of the world. To others there is nothing.
 */
export const route = (
  exposition: Exposition["Service"],
  { hostNames, isBehindProxy, networks, trustedProxies }: Readers,
): Layer.Layer<never, never, HttpRouter.HttpRouter> => {
  const readers = networks ?? (isBehindProxy ? [] : LOOPBACK)
  return HttpRouter.add(
    "GET",
    "/metrics",
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const peer = Option.getOrUndefined(request.remoteAddress)
      const client = ClientAddress.of(peer, request.headers["x-forwarded-for"], trustedProxies)
      const isMarked = peer === client && MARKS.some((name) => request.headers[name] !== undefined)
      if (isMarked || !Network.contains(readers, client)) {
        return yield* new HttpServerError.HttpServerError({ reason: new HttpServerError.RouteNotFound({ request }) })
      }
      return yield* answer(exposition, hostNames)
      // The edge answers it like any path that leads nowhere.
    }).pipe(Effect.orDie),
  )
}

const healthy = HttpServerResponse.jsonUnsafe({ status: "ok" })

const ready = Effect.map(Readiness.problems, (problems) =>
  problems.length === 0 ? healthy : HttpServerResponse.jsonUnsafe({ status: "unavailable", problems }, { status: 503 }),
)

/** On a port of its own, for whoever can reach it: every role has one, an API or not. */
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
