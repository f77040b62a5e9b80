import { execFileSync } from "node:child_process"
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Waybill } from "../../../packages/client/src/Waybill.ts"
import { steadyMs } from "../../support/process/runDelayMs.ts"
import { freePort, WaybillCommand } from "../../support/process/service.ts"

const TIMEOUT = 600_000
const CLIENTS = 24
/** A request is answered after the time limit of 5 s, and what a busy machine adds beside the waits for a processor. */
const LATEST_MS = 9_000

const folder = mkdtempSync(join(tmpdir(), "waybill-frozen-"))
// Started by root, Postgres runs as another user, who must be able to enter the folder.
chmodSync(folder, 0o711)
let service: WaybillCommand
let url = ""
let key = ""
beforeAll(async () => {
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  service = new WaybillCommand(["start"], {
    WAYBILL_DATA: folder,
    PORT: `${port}`,
    SMTP_PORT: `${await freePort()}`,
    LOG_LEVEL: "Error",
  })
  key = /wb_\w+/u.exec(await service.waitForOutput("curl "))?.[0] ?? ""
}, TIMEOUT)
afterAll(async () => {
  signalPostgres("SIGCONT")
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
}, TIMEOUT)

/** Signals the server and all of its processes, its own first, so that it starts no new ones. */
const signalPostgres = (signal: "SIGSTOP" | "SIGCONT"): void => {
  const [pid = ""] = readFileSync(join(folder, "postgres/cluster/postmaster.pid"), "utf8").split("\n")
  process.kill(Number(pid), signal)
  const children = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" })
  for (const [, child, parent] of children.matchAll(/^\s*(\d+)\s+(\d+)$/gmu))
    if (parent === pid) signalIfThere(Number(child), signal)
}

/** Signals a process that may have ended since it was listed. */
const signalIfThere = (pid: number, signal: "SIGSTOP" | "SIGCONT"): void => {
  try {
    process.kill(pid, signal)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ESRCH") throw cause
  }
}

interface Answered {
  readonly subject: string
  readonly status: number
  readonly reason: string | undefined
  readonly retryAfter: string | null
  /** Without the time in which the service or the test waited for a processor. */
  readonly ms: number
}

const now = (): number => steadyMs(service.child.pid ?? 0)

const send = async (subject: string): Promise<Answered> => {
  const began = now()
  const response = await fetch(`${url}/v1/email/send`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ from: "hi@acme.test", to: "ana@example.org", subject, text: "Thank you." }),
  })
  const body = (await response.json()) as { readonly error?: { readonly reason: string } }
  const retryAfter = response.headers.get("retry-after")
  return { subject, status: response.status, reason: body.error?.reason, retryAfter, ms: now() - began }
}

const accepted = async (): Promise<ReadonlySet<string>> => {
  const waybill = new Waybill(key, { baseUrl: url })
  const subjects = new Set<string>()
  for (let after: string | undefined; ;) {
    const page = await waybill.logs.list({ limit: 100, ...(after === undefined ? {} : { after }) })
    for (const { subject } of page.data) subjects.add(subject)
    after = page.data.at(-1)?.id
    if (!page.has_more) return subjects
  }
}

describe("a busy service whose Postgres is frozen", () => {
  it("answers in time, and each answer is true afterwards", { timeout: TIMEOUT }, async () => {
    const answers: Array<Answered> = []
    let isOver = false
    let n = 0
    const client = async () => {
      while (!isOver) {
        const answer = await send(`mail ${n++}`)
        answers.push(answer)
        if (answer.status !== 200) await new Promise((resolve) => setTimeout(resolve, 200))
      }
    }
    const clients = Promise.all(Array.from({ length: CLIENTS }, client))
    const hasAnswers = async (isWanted: (answer: Answered) => boolean, count: number) => {
      const before = answers.length
      while (answers.slice(before).filter(isWanted).length < count)
        await new Promise((resolve) => setTimeout(resolve, 20))
    }
    await hasAnswers(({ status }) => status === 200, 50)
    signalPostgres("SIGSTOP")
    await hasAnswers(({ status }) => status === 503, 2 * CLIENTS)
    signalPostgres("SIGCONT")
    await hasAnswers(({ status }) => status === 200, CLIENTS)
    isOver = true
    await clients
    const subjects = await accepted()
    for (const { ms, reason, retryAfter, status, subject } of answers) {
      assert.isBelow(ms, LATEST_MS, subject)
      if (status === 200) assert.isTrue(subjects.has(subject), `${subject} was accepted and is lost`)
      else if (status === 503) {
        assert.deepStrictEqual([reason, retryAfter], ["unavailable", "5"])
        assert.isFalse(subjects.has(subject), `${subject} was refused and then accepted`)
      } else if (status !== 429) assert.deepStrictEqual([status, reason], [500, "outcome_unknown"])
    }
    // Once for an outage, of which a busy machine may see another, and not for each request.
    const said = service.output.match(/requests are answered 503/gu) ?? []
    assert.isAtLeast(said.length, 1)
    assert.isBelow(said.length, CLIENTS)
  })
})
