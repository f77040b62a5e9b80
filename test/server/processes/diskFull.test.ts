import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { open } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import nodemailer from "nodemailer"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { freePort, WaybillCommand } from "../../support/process/service.ts"

const TIMEOUT = 600_000
const DISK_MB = 220
const REQUESTS = 20
const FULL = "the disk of the database is full (ENOSPC)"

/** Only root may mount a small disk; where even root may not, as in some containers, there is nothing to fill. */
const disk = mkdtempSync(join(tmpdir(), "waybill-disk-"))
const isMounted = ((): boolean => {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_MB}m,mode=755`, "waybill-test", disk], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
})()

let service: WaybillCommand
let url = ""
let mailPort = 0
let key = ""
beforeAll(async () => {
  if (!isMounted) return
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  mailPort = await freePort()
  const ports = { PORT: `${port}`, SMTP_PORT: `${await freePort()}`, MAIL_PORT: `${mailPort}` }
  service = new WaybillCommand(["start"], { WAYBILL_DATA: disk, ...ports })
  key = /wb_\w+/u.exec(await service.waitForOutput("curl "))?.[0] ?? ""
}, TIMEOUT)
afterAll(async () => {
  if (isMounted) {
    await service.stop()
    execFileSync("umount", [disk])
  }
  rmSync(disk, { recursive: true, force: true })
}, TIMEOUT)

const send = async (subject: string) => {
  const response = await fetch(`${url}/v1/email/send`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ from: "hi@acme.test", to: "ana@example.org", subject, text: "Thank you." }),
  })
  const body = (await response.json()) as { readonly error?: { readonly reason: string } }
  return { status: response.status, reason: body.error?.reason, retryAfter: response.headers.get("retry-after") }
}

const LARGE = "Hello. ".repeat(400_000)

/** Lets a mail come in, and returns the reply. */
const receive = async (subject: string, text: string): Promise<string> => {
  const client = nodemailer.createTransport({ host: "127.0.0.1", port: mailPort, ignoreTLS: true })
  const messageId = `<${subject}@example.org>`
  const date = new Date("2026-11-29T10:00:00Z")
  const sent = client.sendMail({ from: "ana@example.org", to: "hi@acme.test", subject, text, messageId, date })
  return sent.then(
    ({ response }) => response,
    (error: { readonly response?: string }) => String(error.response),
  )
}

const ready = async () => {
  const response = await fetch(`${url}/readyz`)
  return { status: response.status, problems: ((await response.json()) as { problems?: unknown }).problems }
}

/** Writes until the disk has no byte left; returns a function that frees it. */
const fill = async (): Promise<() => void> => {
  const file = join(disk, "filler")
  const handle = await open(file, "w")
  for (let bytes = 1 << 20; bytes > 0; bytes >>= 1) {
    for (let isWritten = true; isWritten;)
      isWritten = await handle.write(Buffer.alloc(bytes)).then(
        ({ bytesWritten }) => bytesWritten === bytes,
        () => false,
      )
  }
  await handle.close()
  return () => rmSync(file)
}

const until = async <A>(read: () => Promise<A>, isWanted: (value: A) => boolean): Promise<A> => {
  for (;;) {
    const value = await read()
    if (isWanted(value)) return value
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

describe.skipIf(!isMounted)("a service whose disk is full", () => {
  it("answers 503, says so in one line, and goes on by itself when there is space", { timeout: TIMEOUT }, async () => {
    assert.strictEqual((await send("before")).status, 200)
    const mails = [
      ["small", "Hello"],
      ["large", LARGE],
    ] as const
    const free = await fill()
    await until(
      () => send("filling"),
      ({ status }) => status !== 200,
    )
    for (let n = 0; n < REQUESTS; n++)
      assert.deepStrictEqual(await send(`full ${n}`), { status: 503, reason: "unavailable", retryAfter: "5" })
    assert.match(await receive(...mails[0]), /^451 4\.3\.0/u)
    // On a busy machine the database may be slow to say so.
    const { status } = await until(ready, ({ problems }) => JSON.stringify(problems) === JSON.stringify([FULL]))
    assert.strictEqual(status, 503)
    const lines = service.output.split("\n").filter((line) => line.includes("ENOSPC"))
    assert.lengthOf(lines, 1)
    assert.include(lines[0], "53100")
    assert.notInclude(service.output, "request failed")
    assert.match(await receive(...mails[1]), /^451 4\.3\.0/u)
    free()
    await until(
      () => send("after"),
      ({ status }) => status === 200,
    )
    assert.strictEqual((await ready()).status, 200)
    // Their server tries again, twice if it has not heard the answer.
    for (const [subject, text] of [...mails, ...mails]) assert.match(await receive(subject, text), /^250 2\.0\.0/u)
    const received = await fetch(`${url}/v1/inbound`, { headers: { authorization: `Bearer ${key}` } })
    const { data } = (await received.json()) as { readonly data: ReadonlyArray<{ readonly subject: string }> }
    assert.deepStrictEqual(
      data.map(({ subject }) => subject),
      ["large", "small"],
    )
    assert.include(service.output, "the database takes writes again")
  })

  it("is not ready before any request has failed", { timeout: TIMEOUT }, async () => {
    const free = await fill()
    await until(ready, ({ status }) => status === 503)
    assert.strictEqual((await send("refused")).status, 503)
    free()
    await until(ready, ({ status }) => status === 200)
  })
})
