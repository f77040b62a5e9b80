import * as ReturnPath from "@waybill/mail/tokens/ReturnPath"
import { Context, Duration, Effect } from "effect"
import { once } from "node:events"
import type { ServerResponse } from "node:http"
import * as net from "node:net"
import * as NodeServer from "../../../apps/server/src/http/NodeServer.ts"
import * as MailListener from "../../../apps/server/src/smtp/MailListener.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as World from "../../support/world/World.ts"
import * as Smtp from "../../server/smtp/support.ts"

const CLIENTS = 60
const TRICKLE_MS = 20
/** Timeout after which a test counts as hanging. */
const TIMEOUT = Duration.seconds(30)
const TIMEOUTS: NodeServer.Timeouts = { headers_ms: 400, request_ms: 800, check_ms: 50, stalled_ms: 800 }
/** Larger than any buffer between two sockets of one machine. */
const ANSWER = Buffer.alloc(32 * 1024 * 1024, "x")

interface ClientOptions {
  /** Text that is sent again and again. */
  readonly drip?: string
  readonly reads?: boolean
  /** Waits for the greeting: an SMTP client that speaks first is disconnected for that reason. */
  readonly greeted?: boolean
}

const open = (port: number, head: string, { drip, greeted = false, reads = true }: ClientOptions) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const socket = net.connect(port, "127.0.0.1")
      socket.on("error", () => undefined)
      const [hello] = await once(socket, greeted ? "data" : "connect")
      if (greeted) assert.match(String(hello), /^220 /u)
      if (reads) socket.resume()
      else socket.pause()
      socket.write(head)
      const timer = drip === undefined ? undefined : setInterval(() => socket.write(drip), TRICKLE_MS)
      return { socket, timer }
    }),
    ({ socket, timer }) =>
      Effect.sync(() => {
        clearInterval(timer)
        socket.destroy()
      }),
  )

const openMany = (port: number, head: string, options: ClientOptions) =>
  Effect.all(
    Array.from({ length: CLIENTS }, () => open(port, head, options)),
    { concurrency: "unbounded" },
  )

/** Starts the HTTP listener of the service with a large or a small answer. */
const http = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = NodeServer.make(Context.empty(), TIMEOUTS)
    const counts = { connections: 0 }
    server.on("connection", () => counts.connections++)
    server.on("request", (request, response: ServerResponse) => {
      if (request.url === "/large") return void response.end(ANSWER)
      request.resume()
      request.on("end", () => response.end("well"))
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const { port } = server.address() as net.AddressInfo
    return { server, port, counts }
  }),
  ({ server }) =>
    Effect.promise(async () => {
      server.closeAllConnections()
      server.close()
    }),
)

const connections = (server: NodeServer.NodeServer) =>
  Effect.promise(
    () => new Promise<number>((resolve, reject) => server.getConnections((no, n) => (no ? reject(no) : resolve(n)))),
  )

const fetchText = (port: number) =>
  Effect.promise(() =>
    fetch(`http://127.0.0.1:${port}/`, { headers: { connection: "close" } }).then(
      (answer) => answer.text(),
      (error: unknown) => String(error),
    ),
  )

layer(Smtp.layer, { excludeTestServices: true, timeout: "60 seconds" })("a crowd of slow clients", (it) => {
  for (const [client, head, options] of [
    ["whose headers never end", "GET / HTTP/1.1\r\nHost: x\r\n", { drip: "X-A: b\r\n" }],
    ["whose first line never ends", "GET /", { drip: "x" }],
    ["that sends nothing", "", {}],
    ["whose body never ends", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n", { drip: "x" }],
    [
      "whose chunks never end",
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
      { drip: "1\r\nx\r\n" },
    ],
    ["that reads no byte of its answer", "GET /large HTTP/1.1\r\nHost: x\r\n\r\n", { reads: false }],
  ] as const) {
    // threat: slow-clients
    it.effect(`over HTTP ${client} is disconnected, and other clients get an answer`, function* () {
      const { port, counts, server } = yield* http
      yield* openMany(port, head, options)
      yield* World.until(
        Effect.sync(() => counts.connections),
        (opened) => opened >= CLIENTS,
        TIMEOUT,
      )
      // On a slow machine a quick client may be disconnected as a slow one; it tries again.
      yield* World.until(fetchText(port), (answer) => answer === "well", TIMEOUT)
      yield* World.until(connections(server), (open) => open === 0, TIMEOUT)
    })
  }

  const timeLimit = Duration.millis(800)
  const ehlo = "EHLO x\r\n"
  const submission = Effect.gen(function* () {
    const acme = yield* Smtp.customer()
    const limits = {
      identifiedWithin: timeLimit,
      message: timeLimit,
      idle: timeLimit,
      maxConnectionsPerAddress: CLIENTS,
      maxUnidentifiedPerAddress: CLIENTS,
    }
    const port = yield* Smtp.submission({ limits })
    const address = "ana@example.org"
    const message = `${ehlo}${Smtp.plain(acme.secret)}\r\nMAIL FROM:<hi@${acme.domain}>\r\nRCPT TO:<${address}>\r\nDATA\r\n`
    return { port, message }
  })
  const reports = Effect.gen(function* () {
    const { domain, secretKey } = World.RETURN_PATH
    const limits = {
      identifiedWithin: timeLimit,
      message: timeLimit,
      idle: timeLimit,
      maxConnectionsPerAddress: CLIENTS,
      maxUnidentifiedPerAddress: CLIENTS,
    }
    const port = yield* MailListener.listen({
      host: "127.0.0.1",
      port: 0,
      name: domain,
      inbound: Smtp.REPORTS_ONLY,
      returnPath: { domain, secretKeys: [secretKey] },
      limits,
    })
    const of = { account_id: `acc_${"0".repeat(26)}`, emailId: "msg_01m7ysmwp0e41861050r3gg28a" as never }
    const address = ReturnPath.make(secretKey, domain, { ...of, recipientIndex: 0 })
    return { port, message: `${ehlo}MAIL FROM:<>\r\nRCPT TO:<${address}>\r\nDATA\r\n` }
  })

  for (const [name, listen] of [
    ["submission", submission],
    ["reports", reports],
  ] as const) {
    for (const [client, headOf, options] of [
      ["whose command never ends", () => "", { drip: "x" }],
      ["that sends nothing", () => "", {}],
      ["that keeps sending RSET", () => ehlo, { drip: "RSET\r\n" }],
      ["whose message never ends", (message: string) => message, { drip: "x\r\n" }],
      ["that reads no answers", () => ehlo, { drip: "RSET\r\n".repeat(2_000), reads: false }],
    ] as const) {
      // threat: slow-clients
      it.effect(`on the listener for ${name} ${client} is disconnected, and its connections become free`, function* () {
        const { message, port } = yield* listen
        // The clients take all connections that an address may have.
        yield* openMany(port, headOf(message), { ...options, greeted: true })
        const greeted = Effect.promise(async () => {
          const client = await Smtp.Raw.connect(port)
          const answer = client.closed ? "closed" : await client.say("EHLO x")
          client.end()
          return answer
        })
        yield* World.until(greeted, (answer) => answer.startsWith("250"), TIMEOUT)
      })
    }
  }
})
