import { Sql } from "@waybill/store/postgres/Sql"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import * as Smtp from "../smtp/support.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { freePort } from "../../support/process/service.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"
import * as World from "../../support/world/World.ts"

const MIB = 1024 * 1024
/** More than fit at once. `WAYBILL_LARGE_MAILS=200` sends as many as docs/limits.md speaks of. */
const MAILS = Number(process.env["WAYBILL_LARGE_MAILS"] ?? 12)
/** A mail in base64 that is just below the limit of 25 MiB. */
const SIZE = 24.5 * MIB
/** Growth of the process, in MiB: the mail that it holds, what threads and the database have of it, and garbage. */
const MAX_GROWTH_MIB = 600
const TIMEOUT = 60_000 + MAILS * 30_000
const ENVELOPE = ["EHLO mx.example.org", "MAIL FROM:<ana@example.org>", "RCPT TO:<hi@shop.test>", "DATA"]
const BODY = Buffer.from(`${"QUJD".repeat(19)}\r\n`.repeat(SIZE / 78))
/** Too much at once; or a database that is not fast enough for all of it. */
const LATER = /^45[12] /u
const PAUSE_MS = 1_000

const headOf = (nth: number) =>
  [
    "From: ana@example.org",
    `Message-ID: <large${nth}@example.org>`,
    "MIME-Version: 1.0",
    'Content-Type: application/octet-stream; name="a.bin"',
    "Content-Transfer-Encoding: base64",
    "",
    "",
  ].join("\r\n")

/** Resident memory of a process in MiB: now, or at its highest. */
const memory = (pid: number, field: "VmRSS" | "VmHWM"): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "mu").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024

layer(World.layer, { excludeTestServices: true, timeout: "240 seconds" })("many large mails at once", (it) => {
  it.effect.skipIf(process.platform !== "linux")(
    "wait for their turn and are kept, within the stated memory (on Linux)",
    () =>
      Effect.gen(function* () {
        const { url } = yield* Database.Fresh
        const port = yield* Effect.promise(freePort)
        const node = yield* ServiceProcess.start(url, { MAIL_PORT: String(port) })
        yield* ServiceProcess.signUp(node, { domain: "shop.test" })
        let full = 0
        const yielded: Array<string> = []
        /** A server that tries again until it has heard a 250, each at an address of its own. */
        const send = async (nth: number): Promise<void> => {
          for (;;) {
            const client = await Smtp.Raw.connect(
              port,
              "127.0.0.1",
              `127.3.${Math.floor(nth / 200)}.${1 + (nth % 200)}`,
            )
            const replies = await client.all(ENVELOPE)
            const refused = replies.find((reply) => LATER.test(reply))
            if (refused === undefined) {
              assert.match(replies.at(-1) ?? "", /^354 /u)
              // All clients send the same body: the memory of the test is not what counts.
              for (const part of [headOf(nth), BODY, "\r\n.\r\n"]) client.write(part)
            }
            const reply = refused ?? (await client.reply())
            client.end()
            if (reply.startsWith("250 ")) return
            assert.match(reply, LATER)
            if (reply.startsWith("452 4.3.1 ")) full++
            else yielded.push(reply)
            await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
          }
        }
        yield* Effect.promise(() => send(0))
        const before = memory(node.pid, "VmRSS")
        yield* Effect.promise(() => Promise.all(Array.from({ length: MAILS }, (_, nth) => send(nth + 1))))
        const growth = memory(node.pid, "VmHWM") - before
        yield* Effect.logInfo(
          `${MAILS} mails: ${growth.toFixed(0)} MiB more than ${before.toFixed(0)}, ${full} put off`,
        )
        assert.isBelow(growth, MAX_GROWTH_MIB)
        assert.include(readFileSync("docs/limits.md", "utf8"), `at most ${MAX_GROWTH_MIB} MiB`)
        const { driver: sql } = yield* Sql
        const kept = yield* Effect.orDie(sql<{ readonly message_id: string; readonly bytes: number }>`
          SELECT i.message_id, sum(c.size_bytes)::int AS bytes FROM inbound i
          JOIN inbound_content c ON c.account_id = i.account_id AND starts_with(c.id, i.id) GROUP BY 1`)
        assert.sameMembers(
          kept.map(({ message_id }) => message_id),
          Array.from({ length: MAILS + 1 }, (_, nth) => `<large${nth}@example.org>`),
        )
        for (const { bytes } of kept) assert.isAbove(bytes, SIZE)
      }),
    TIMEOUT,
  )
})
