import { Effect } from "effect"
import { once } from "node:events"
import * as net from "node:net"
import {
  CALLS_AT_ONCE,
  MAX_CALL_BYTES,
  MAX_CALL_BYTES_HELD_PER_ADDRESS,
} from "../../../apps/server/src/providers/HookRoutes.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"
import { until } from "../../support/world/World.ts"
import { makeHook, setUp } from "./support.ts"

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "60 seconds" })("calls that are half sent", (it) => {
  /** Sends all but the last byte of a call, and returns what is answered so far. */
  const halfCall = Effect.fnUntraced(function* (path: string, bytes: number) {
    const { url } = yield* HttpWorld
    const { hostname, port } = new URL(url)
    const socket = net.connect(Number(port), hostname)
    yield* Effect.addFinalizer(() => Effect.sync(() => socket.destroy()))
    socket.on("error", () => {})
    yield* Effect.promise(() => once(socket, "connect"))
    let received = ""
    socket.on("data", (chunk: Buffer) => (received += chunk.toString("latin1")))
    socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes}\r\n\r\n${"x".repeat(bytes - 1)}`)
    return Effect.sync(() => received)
  })

  // threat: provider-calls
  it.effect("take no place from others", function* () {
    const { mail } = yield* setUp()
    const { path, report } = yield* makeHook("mailgun")
    for (let nth = 0; nth < CALLS_AT_ONCE; nth++) yield* halfCall(path, 100)
    const message = yield* mail("slow@example.org")
    assert.strictEqual((yield* report(message.about("bounced"))).status, 200)
    assert.strictEqual((yield* message.log).status, "bounced")
  })

  it.effect("are refused beyond the memory of their address", function* () {
    const { path } = yield* makeHook("mailgun")
    const fitting = MAX_CALL_BYTES_HELD_PER_ADDRESS / MAX_CALL_BYTES
    const answers = yield* Effect.forEach(Array.from({ length: fitting + 1 }), () => halfCall(path, MAX_CALL_BYTES))
    const texts = yield* until(
      Effect.forEach(answers, (answer) => answer),
      (all) => all.some((text) => text !== ""),
    )
    for (const text of texts.filter((text) => text !== ""))
      assert.match(text, /^HTTP\/1\.1 503 [\s\S]*Refused: overloaded\. Nothing was changed\.\n$/u)
  })
})
