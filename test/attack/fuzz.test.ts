import * as ReturnPath from "@waybill/mail/tokens/ReturnPath"
import { Duration, Effect } from "effect"
import { readFileSync } from "node:fs"
import * as net from "node:net"
import * as v8 from "node:v8"
import * as vm from "node:vm"
import * as MailListener from "../../apps/server/src/smtp/MailListener.ts"
import { assert, layer } from "../support/effectTest.ts"
import { dnsZones } from "../support/mail/dnsZones.ts"
import { HttpWorld, signUp } from "../support/world/HttpWorld.ts"
import * as Smtp from "../server/smtp/support.ts"
import * as World from "../support/world/World.ts"

/** Seed of all choices; a failure names its seed. */
const SEED = Number(process.env["WAYBILL_FUZZ_SEED"] ?? 20261121)
const DIALOGUES = Number(process.env["WAYBILL_FUZZ_DIALOGUES"] ?? 250)
const AT_ONCE = 20
const ROUNDS = 4
/** Maximum growth of the heap per round in bytes; a leak of a kilobyte per dialogue exceeds this maximum. */
const MAX_GROWTH = 12 * 1024 * 1024
/** Timeout after which a dialogue counts as hanging. */
const TIMEOUT = Duration.seconds(60)

/** Mulberry32, a small seeded generator of random numbers. */
const dice = (seed: number) => {
  let state = seed
  const roll = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (n: number) => Math.floor(roll() * n)
  return { below, pick: <A>(list: ReadonlyArray<A>): A => list[below(list.length)] as A }
}
type Dice = ReturnType<typeof dice>

const PIECES = [
  "\r\n",
  "\n",
  "\r",
  "\0",
  "\r\n.\r\n",
  "\r\n\r\n",
  ":",
  " ",
  "%",
  "\xff",
  "\x80",
  "{",
  '"',
  "<",
  ">",
  "A".repeat(300),
]

/** Mutates a valid dialogue: bytes are removed, doubled, reversed, replaced or inserted. */
const mutate = (text: string, { below, pick }: Dice): Buffer => {
  let bytes = Buffer.from(text, "latin1")
  for (let times = below(6); times > 0; times--) {
    const at = below(bytes.length + 1)
    const length = pick([1, 1, 2, 8, 60])
    const rest = bytes.subarray(Math.min(bytes.length, at + length))
    const piece = pick([
      Buffer.alloc(0),
      Buffer.from(pick(PIECES), "latin1"),
      Buffer.concat([bytes.subarray(at, at + length), bytes.subarray(at, at + length)]),
      bytes.subarray(at, at + length).toReversed(),
      Buffer.from([below(256)]),
    ])
    bytes = Buffer.concat([bytes.subarray(0, at), piece, rest])
  }
  return bytes
}

/** Sends the bytes in two pieces and returns all replies until the other side closes the connection. */
const exchange = (port: number, input: Buffer, cut: number, greeted: boolean): Promise<string> =>
  new Promise((resolve) => {
    const socket = net.connect({ port, host: "127.0.0.1", allowHalfOpen: true })
    let replies = ""
    socket.setEncoding("latin1")
    let waits = greeted
    const write = () => {
      socket.write(input.subarray(0, cut))
      // An HTTP client that closes its side gets no answer, so only SMTP ends here.
      setImmediate(() => (greeted ? socket.end(input.subarray(cut)) : socket.write(input.subarray(cut))))
    }
    socket.on("data", (text: string) => {
      replies += text
      if (waits) write()
      else if (!greeted) socket.end()
      waits = false
    })
    if (!greeted) socket.once("connect", write)
    socket.on("error", () => undefined)
    socket.on("end", () => socket.end())
    socket.on("close", () => resolve(replies))
  })

v8.setFlagsFromString("--expose-gc")
const collect = vm.runInNewContext("gc") as () => void
const heap = () => {
  collect()
  return process.memoryUsage().heapUsed
}

/** Runs the same number of dialogues in each round; the memory in use must not grow from round to round. */
const runRounds = (
  port: number,
  greeted: boolean,
  dialogues: ReadonlyArray<string>,
  check: (replies: string, what: string) => void,
) =>
  Effect.gen(function* () {
    const random = dice(SEED)
    const heapSizes: Array<number> = []
    for (let round = 0; round < ROUNDS; round++) {
      yield* Effect.forEach(
        Array.from({ length: DIALOGUES }, () => {
          const input = mutate(random.pick(dialogues), random)
          return { input, cut: random.below(input.length + 1) }
        }),
        ({ cut, input }) =>
          Effect.promise(() => exchange(port, input, cut, greeted)).pipe(
            Effect.timeoutOrElse({
              duration: TIMEOUT,
              orElse: () =>
                Effect.die(new Error(`it hangs, seed ${SEED}: ${JSON.stringify(input.toString("latin1"))}`)),
            }),
            Effect.tap((replies) =>
              Effect.sync(() =>
                check(replies, `seed ${SEED}: ${JSON.stringify(input.toString("latin1")).slice(0, 1_500)}`),
              ),
            ),
          ),
        { concurrency: AT_ONCE, discard: true },
      )
      heapSizes.push(heap())
    }
    const [, second = 0] = heapSizes
    assert.isBelow((heapSizes.at(-1) ?? 0) - second, MAX_GROWTH * (ROUNDS - 2), heapSizes.join(", "))
  })

const TIMEOUTS = { headers_ms: 300, request_ms: 600, check_ms: 50, stalled_ms: 10_000 }

layer(HttpWorld.layer({ timeouts: TIMEOUTS }), { excludeTestServices: true, timeout: "60 seconds" })(
  "mangled bytes",
  (it) => {
    // threat: invalid-input
    it.effect(
      "over HTTP get an answer or a closed connection, never an internal error, and leak no memory",
      function* () {
        const { call, key, world } = yield* signUp({ domains: ["acme.test"] })
        const head = `Host: x\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n`
        const body = JSON.stringify({
          from: "hi@acme.test",
          to: ["ana@example.org"],
          subject: "x",
          text: "é",
          tags: ["t"],
        })
        const sized = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
        const chunked = `Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
        const dialogues = [
          `POST /v1/email/send HTTP/1.1\r\n${head}${sized}`,
          `POST /v1/email/send HTTP/1.1\r\n${head}Idempotency-Key: k\r\n${chunked}`,
          `POST /v1/email/send/batch HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${body.length + 13}\r\n\r\n{"emails":[${body}]}`,
          `GET /v1/email/logs?limit=2&tag=a%20b&status=queued,sent HTTP/1.1\r\n${head}\r\n`,
          `GET /v1/domains/acme.test HTTP/1.0\r\n${head}\r\n`,
        ]
        const statuses = new Map<string, number>()
        yield* runRounds(Number(new URL(world.url).port), false, dialogues, (replies, what) => {
          if (replies === "") return
          const status = /^HTTP\/1\.1 (\d{3}) /u.exec(replies)?.[1] ?? assert.fail(`${what} → ${replies.slice(0, 300)}`)
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
          assert.notMatch(replies, /^HTTP\/1\.1 5/mu, what)
        })
        for (const status of ["200", "400", "401", "404"]) assert.isAbove(statuses.get(status) ?? 0, 2, status)
        assert.strictEqual((yield* call("GET", "/v1/account")).status, 200)
      },
      4 * Duration.toMillis(TIMEOUT),
    )

    const isSmtp = (replies: string, what: string) => {
      for (const line of replies.split("\r\n").slice(0, -1)) assert.match(line, /^[2345]\d\d[ -]/u, what)
      assert.notMatch(replies, /internal|\bat \S+:\d+|node_modules/iu, what)
    }
    const message = (from: string) =>
      `From: ${from}\r\nTo: ana@example.org\r\nSubject: =?utf-8?B?w6k=?=\r\n\r\n..hi\r\n.\r\n`

    it.effect(
      "over SMTP submission get a reply or a closed connection, never an internal error, and leak no memory",
      function* () {
        const port = yield* Smtp.submission()
        const acme = yield* Smtp.customer({ plan: "business" })
        const from = `hi@${acme.domain}`
        const login = `EHLO x\r\n${Smtp.plain(acme.secret)}\r\n`
        const envelope = `MAIL FROM:<${from}> SIZE=200 BODY=8BITMIME\r\nRCPT TO:<ana@example.org>\r\nDATA\r\n`
        yield* runRounds(
          port,
          true,
          [
            `${login}${envelope}${message(from)}QUIT\r\n`,
            `${login}${envelope}${message(from)}${envelope}${message(from)}RSET\r\nNOOP\r\nQUIT\r\n`,
            `EHLO x\r\nAUTH LOGIN\r\nYW55\r\n${Buffer.from(acme.secret).toString("base64")}\r\n${envelope}${message(from)}QUIT\r\n`,
          ],
          isSmtp,
        )
        const sent = yield* Smtp.send(port, acme.secret, { from, to: "bo@example.org", subject: "s", text: "x" })
        // A busy minute may have used up the rate window of the key, and a deferral is a valid answer too.
        assert.match(sent, /^(?:250 2\.0\.0|450 4\.7\.0) /u)
      },
      4 * Duration.toMillis(TIMEOUT),
    )

    it.effect(
      "over the listener for reports get a reply or a closed connection, never an internal error, and leak no memory",
      function* () {
        const { domain, secretKey } = World.RETURN_PATH
        const port = yield* MailListener.listen({
          host: "127.0.0.1",
          port: 0,
          name: domain,
          inbound: Smtp.REPORTS_ONLY,
          returnPath: { domain, secretKeys: [secretKey] },
        }).pipe(Effect.provide(dnsZones({})))
        const acme = yield* Smtp.customer()
        const ref = yield* World.send(acme.sender)
        const path = ReturnPath.make(secretKey, domain, {
          account_id: ref.account_id,
          emailId: ref.stream_id,
          recipientIndex: 0,
        })
        const commands = `EHLO mx.example.org\r\nMAIL FROM:<>\r\nRCPT TO:<${path}>\r\nDATA\r\n`
        const reports = ["gmail", "exim-dsn", "outlook-jmrp", "qmail", "nested"].map((name) =>
          readFileSync(new URL(`../fixtures/reports/${name}.eml`, import.meta.url), "latin1")
            .replaceAll(/^\./gmu, "..")
            .replace(/\r?\n?$/u, ""),
        )
        yield* runRounds(
          port,
          true,
          reports.map((report) => `${commands}${report}\r\n.\r\nQUIT\r\n`),
          isSmtp,
        )
        // Every suppression is for this recipient, whatever the parser read from the bytes.
        const suppressed = yield* Effect.orDie(
          Effect.flatMap(HttpWorld, ({ sql }) => sql`SELECT 1 FROM suppressions WHERE account_id = ${acme.account_id}`),
        )
        assert.isAtMost(suppressed.length, 1)
      },
      4 * Duration.toMillis(TIMEOUT),
    )
  },
)
