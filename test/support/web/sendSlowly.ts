import { Effect } from "effect"
import * as net from "node:net"

/** Longer than a body may take without a second check of its key. */
const SLOW_MS = 1_200

/** Sends a body in two parts and runs an effect between them. */
export const sendSlowly = <E, R>(
  url: string,
  path: string,
  key: string,
  body: string,
  meanwhile: Effect.Effect<unknown, E, R>,
  method = "POST",
) =>
  Effect.gen(function* () {
    const { hostname, port } = new URL(url)
    const socket = net.connect(Number(port), hostname)
    let received = ""
    const over = new Promise<void>((resolve) => socket.on("close", () => resolve()))
    socket.on("data", (chunk: Buffer) => (received += chunk.toString("latin1")))
    socket.on("error", () => undefined)
    socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
    )
    yield* Effect.sleep("200 millis")
    yield* meanwhile
    yield* Effect.sleep(SLOW_MS)
    socket.write(body.slice(10))
    yield* Effect.promise(() => over)
    return {
      status: Number(received.split(" ")[1]),
      json: JSON.parse(received.slice(received.indexOf("\r\n\r\n") + 4)),
    }
  })
