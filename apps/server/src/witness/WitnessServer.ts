import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ByteSize, Effect, Layer } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"
import * as AddCheckpoint from "./AddCheckpoint.ts"
import type { Witness, WitnessAnswer } from "./Witness.ts"

/** Maximum bytes of a request: 63 hashes, and a checkpoint with some signatures. */
export const MAX_REQUEST_BYTES = 64 * 1024
export const MAX_CONNECTIONS = 256
const MAX_HEADER_BYTES = 8_192
const TIMEOUT_MS = 10_000
const GRACE = "1 second"
const TEXT = "text/plain; charset=utf-8"

/** Serves the protocol of witnesses (c2sp.org/tlog-witness), the checkpoints that were cosigned, and metrics. */
export const layer = (witness: Witness, listen: { readonly host: string; readonly port: number }) =>
  HttpRouter.serve(
    Layer.mergeAll(
      HttpRouter.add("POST", AddCheckpoint.PATH, addCheckpoint(witness)),
      HttpRouter.add("GET", "/:name/checkpoint", checkpoint(witness)),
      HttpRouter.add(
        "GET",
        "/metrics",
        Effect.sync(() => HttpServerResponse.text(metricsOf(witness), { contentType: TEXT })),
      ),
    ),
    { disableLogger: true, disableListenLog: true },
  ).pipe(Layer.provideMerge(NodeHttpServer.layerServer(listener, { ...listen, gracefulShutdownTimeout: GRACE })))

const listener = () => {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: TIMEOUT_MS,
    requestTimeout: TIMEOUT_MS,
  })
  server.maxConnections = MAX_CONNECTIONS
  return server
}

const addCheckpoint = (witness: Witness) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ text }) =>
    text.pipe(
      Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(MAX_REQUEST_BYTES)),
      Effect.flatMap(witness.answer),
      Effect.catchTag("HttpServerError", () =>
        Effect.succeed<WitnessAnswer>({
          status: 400,
          body: `The request is larger than ${MAX_REQUEST_BYTES} bytes, or broken.\n`,
        }),
      ),
      Effect.map(({ body, status, type }) => HttpServerResponse.text(body, { status, contentType: type ?? TEXT })),
    ),
  )

const checkpoint = (witness: Witness) =>
  Effect.gen(function* () {
    const { name } = yield* HttpRouter.params
    const note = [...witness.logs.values()].find((log) => log.name === name)?.seen.checkpoint ?? null
    if (note !== null) return HttpServerResponse.text(note, { contentType: TEXT })
    return HttpServerResponse.text("This witness has not signed a checkpoint of that log.\n", { status: 404 })
  })

const metricsOf = (witness: Witness): string => {
  const logs = [...witness.logs.values()]
  const gauge = (name: string, help: string, valueOf: (log: (typeof logs)[number]) => number) =>
    [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} gauge`,
      ...logs.map((log) => `${name}{origin=${JSON.stringify(log.seen.origin)}} ${valueOf(log)}`),
      "",
    ].join("\n")
  return [
    gauge(
      "waybill_witness_size",
      "Leaves of the largest checkpoint that was signed.",
      ({ latest }) => latest?.size ?? 0,
    ),
    gauge("waybill_witness_forked", "1 if the log has shown two histories.", ({ seen }) =>
      seen.fork === null ? 0 : 1,
    ),
  ].join("")
}
