import { Effect, Result } from "effect"
import * as net from "node:net"
import * as Network from "@waybill/mail/dns/Network"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"
import * as Routes from "./Routes.ts"

const LENGTH = 9_000_000
/** Time after which a service that has not answered waits for the body. */
const WAITS_MS = 10_000

/** Sends the head of a request and the first byte of its body. Returns the status, or 0 if the service waits for the rest. */
const statusBeforeBody = (url: string, { method, path }: Routes.Route, headers: Readonly<Record<string, string>>) =>
  Effect.promise(
    () =>
      new Promise<number>((resolve) => {
        const { hostname, port } = new URL(url)
        const socket = net.connect({ host: hostname, port: Number(port) })
        const end = (status: number) => {
          clearTimeout(timer)
          socket.destroy()
          resolve(status)
        }
        const timer = setTimeout(() => end(0), WAITS_MS)
        socket.on("error", () => end(0))
        socket.on("data", (chunk) => end(Number(/^HTTP\/1\.1 (\d+)/u.exec(chunk.toString("latin1"))?.[1])))
        const lines = Object.entries({
          host: "127.0.0.1",
          "content-type": "application/json",
          "content-length": LENGTH,
          ...headers,
        }).map(([name, value]) => `${name}: ${value}`)
        socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n{`)
      }),
  )

/** The key where clients of a door, or of the API, send it. */
const authorization = (path: string, key: string): Readonly<Record<string, string>> =>
  path.startsWith("/compat/postmark/") ? { "x-postmark-server-token": key } : { authorization: `Bearer ${key}` }

const trustedProxies = Result.getOrThrow(Network.parseAll(["127.0.0.0/8"]))

layer(HttpWorld.layer({ trustedProxies }), { excludeTestServices: true, timeout: "120 seconds" })(
  "a request that is not allowed",
  (it) => {
    const ofKeys = Routes.all().filter(({ caller }) => caller === "key" || caller === "test key")
    const setUp = signUp({ domains: ["acme.test"] })

    it.effect("gets its 401 at every endpoint and door before its body arrives", function* () {
      const { world } = yield* setUp
      const others: Array<string> = []
      for (const [nth, route] of ofKeys.entries()) {
        const status = yield* statusBeforeBody(world.url, route, { "x-forwarded-for": `203.0.113.${nth % 200}` })
        if (status !== 401) others.push(`${route.method} ${route.path}: ${status}`)
      }
      assert.deepStrictEqual(others, [])
      assert.isAbove(ofKeys.length, 60)
    })

    // threat: fan-out
    it.effect("gets its 403 at every endpoint and door before its body arrives", function* () {
      const { keyWith, world } = yield* setUp
      const keys = [yield* keyWith({ scopes: ["stats:read"] }), yield* keyWith({ scopes: ["email:send"] })]
      const others: Array<string> = []
      for (const route of ofKeys.filter(({ scope }) => scope !== undefined)) {
        const statuses: Array<number> = []
        for (const key of keys)
          if (!statuses.includes(403))
            statuses.push(yield* statusBeforeBody(world.url, route, authorization(route.path, key)))
        if (!statuses.includes(403)) others.push(`${route.method} ${route.path}: ${statuses.join(", ")}`)
      }
      assert.deepStrictEqual(others, [])
    })
  },
)
