import { Effect } from "effect"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import * as RemoteLog from "../../../apps/server/src/cli/log/RemoteLog.ts"
import { assert, describe, it } from "../../support/effectTest.ts"

const MEGABYTE = Buffer.alloc(1024 * 1024, " ")

const serve = (listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer(listener)
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
    }),
    ({ server }) =>
      Effect.promise(async () => {
        server.closeAllConnections()
        await new Promise<void>((resolve) => server.close(() => resolve()))
      }),
  )

describe("a log that is verified over HTTP", () => {
  it.effect("is read no further than an answer may be long", function* () {
    let written = 0
    const { url } = yield* serve((_, response) => {
      const write = () => {
        // As many as a reader without a limit would take before the test ends.
        if (written > 64) return void response.end()
        written++
        response.write(MEGABYTE, () => setImmediate(write))
      }
      response.on("error", () => undefined)
      write()
    })
    assert.include((yield* Effect.flip(RemoteLog.find(url))).message, "too long")
    assert.isBelow(written, 64)
  })

  it.effect("is read on when the instance has asked to wait", function* () {
    let asked = 0
    const description = { origin: "mail.example.com/log", keys: [], url: "https://mail.example.com/log" }
    const { url } = yield* serve((_, response) => {
      if (asked++ === 0) response.writeHead(429, { "retry-after": "0" }).end("later")
      else response.end(JSON.stringify(description))
    })
    assert.deepStrictEqual(yield* RemoteLog.find(url), [{ ...description, url: `${url}/log` }])
    const busy = yield* serve((_, response) => void response.writeHead(429, { "retry-after": "0" }).end())
    assert.include((yield* Effect.flip(RemoteLog.find(busy.url))).message, "again and again")
  })

  it.effect("leads to no other address", function* () {
    const asked: Array<string> = []
    const { url: internal } = yield* serve(({ url }, response) => {
      asked.push(url ?? "")
      response.end("{}")
    })
    const { url } = yield* serve((_, response) => void response.writeHead(302, { location: internal }).end())
    assert.include((yield* Effect.flip(RemoteLog.find(url))).message, "the answer is 302")
    assert.deepStrictEqual(asked, [])
  })
})
