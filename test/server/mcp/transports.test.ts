import { assert, layer } from "@effect/vitest"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { Effect, Redacted } from "effect"
import { HttpServer } from "effect/http"
import { Context, Layer } from "effect"
import { Agent, request } from "node:http"
import { connect, type Socket } from "node:net"
import { fileURLToPath } from "node:url"
import * as McpServer from "../../../apps/server/src/mcp/McpServer.ts"
import { MAX_CONNECTIONS, MAX_REQUEST_BYTES, overHttp } from "../../../apps/server/src/mcp/overHttp.ts"
import * as Toolbox from "../../../apps/server/src/mcp/Toolbox.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"
import { CLIENT, textOf } from "./support.ts"
import { NOWHERE } from "../../support/nowhere.ts"

const MAIN = fileURLToPath(new URL("../../../bin/main.mjs", import.meta.url))
const TOKEN = "t".repeat(40)

/** Sends a raw request, because `fetch` does not let a caller choose the host. */
const sendRaw = (
  url: string,
  headers: Record<string, string>,
  body: string,
  path = "/mcp",
  method = "POST",
  agent?: Agent,
) =>
  new Promise<number>((resolve, reject) => {
    const { port } = new URL(url)
    const sent = request({ host: "127.0.0.1", port, path, method, headers, ...(agent && { agent }) }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0))
    })
    sent.on("error", reject).end(body)
  })

/** Opens a connection that never says anything. */
const connected = (url: string) =>
  new Promise<Socket>((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1", () => resolve(socket)).on("error", reject)
    socket.resume()
  })

const LIST = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} })

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("waybill mcp", (it) => {
  it.effect("serves the official client over standard input and output, and ends with it", () =>
    Effect.gen(function* () {
      const { key, send, world } = yield* signUp({ domains: ["acme.test"] })
      const id = yield* send()
      yield* Effect.promise(async () => {
        const transport = new StdioClientTransport({
          command: process.execPath,
          args: [MAIN, "mcp"],
          env: { PATH: process.env["PATH"] ?? "", HOME: NOWHERE, WAYBILL_URL: world.url, WAYBILL_KEY: key },
        })
        const client = new Client(CLIENT)
        await client.connect(transport)
        assert.deepInclude(client.getServerVersion(), { name: "waybill" })
        assert.include(textOf(await client.callTool({ name: "find_emails", arguments: {} })), id)
        const { pid } = transport
        await client.close()
        assert.throws(() => process.kill(pid ?? 0, 0))
      })
    }),
  )

  // threat: assistants
  it.effect("serves the official client over streamable HTTP, and nobody without host, origin and token", () =>
    Effect.gen(function* () {
      const { key, send, world } = yield* signUp({ domains: ["acme.test"] })
      const id = yield* send()
      const toolbox = yield* Toolbox.make({ url: world.url, key: Redacted.make(key), allowLiveSending: false })
      const factory = yield* McpServer.make(toolbox)
      const guard = { token: TOKEN, hosts: ["mcp.example.com"] }
      const built = yield* Layer.build(Layer.fresh(overHttp(factory, guard, { host: "127.0.0.1", port: 0 })))
      const url = HttpServer.formatAddress(Context.get(built, HttpServer.HttpServer).address)

      yield* Effect.promise(async () => {
        const authorization = `Bearer ${TOKEN}`
        const client = new Client(CLIENT)
        await client.connect(
          new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers: { authorization } } }),
        )
        assert.include(textOf(await client.callTool({ name: "get_email", arguments: { id } })), id)
        await client.close()

        const good = {
          host: "127.0.0.1",
          authorization,
          accept: "application/json, text/event-stream",
          "content-type": "application/json",
        }
        const CALLS: ReadonlyArray<readonly [what: string, change: Record<string, string>, status: number]> = [
          ["as it should be", {}, 200],
          ["a name that was allowed", { host: "mcp.example.com:8443" }, 200],
          ["a page of this machine", { origin: "http://localhost:5173" }, 200],
          ["another name for this machine", { host: "attacker.example" }, 403],
          ["a web page elsewhere", { origin: "https://attacker.example" }, 403],
          ["a sandboxed page", { origin: "null" }, 403],
          ["no token", { authorization: "" }, 401],
          ["a wrong token", { authorization: `Bearer ${TOKEN}t` }, 401],
          ["a token in another scheme", { authorization: `Basic ${TOKEN}` }, 401],
        ]
        for (const [what, change, status] of CALLS)
          assert.strictEqual(await sendRaw(url, { ...good, ...change }, LIST), status, what)
        for (const host of ["a@b", "u:p@127.0.0.1", "127.0.0.1:99999", "[", "[::1", "127.0.0.1/x", "a:b", "#", "%"])
          assert.include([400, 403], await sendRaw(url, { ...good, host }, LIST), host)
        for (const path of ["http://u:p@127.0.0.1/mcp", "http://a@b/mcp", "http://[/mcp", "//a@b/mcp"])
          assert.isBelow(await sendRaw(url, good, LIST, path), 500, path)
        assert.strictEqual(await sendRaw(url, good, "", "/mcp", "TRACE"), 405)
        assert.strictEqual(await sendRaw(url, good, LIST, "/"), 404)
        assert.strictEqual(await sendRaw(url, good, " ".repeat(MAX_REQUEST_BYTES + 1)), 413)

        const agent = new Agent({ keepAlive: true })
        assert.strictEqual(await sendRaw(url, good, LIST, "/mcp", "POST", agent), 200)
        const [kept] = Object.values(agent.freeSockets).flat()
        const silent = await Promise.all(Array.from({ length: 2 * MAX_CONNECTIONS }, () => connected(url)))
        assert.strictEqual(await sendRaw(url, good, LIST, "/mcp", "POST", new Agent()), 200, "a client among others")
        assert.strictEqual(await sendRaw(url, good, LIST, "/mcp", "POST", agent), 200)
        assert.isFalse(kept?.destroyed, "a connection that has shown the token stays")
        assert.isAbove(silent.filter(({ closed }) => closed).length, MAX_CONNECTIONS - 2)
        for (const each of silent) each.destroy()
        agent.destroy()
      })
    }),
  )
})
