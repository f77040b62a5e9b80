import * as Small from "@waybill/mail/parsing/isSmall"
import * as Jobs from "@waybill/mail/parsing/Jobs"
import { type Options, type ParseOutcome, ParserPool } from "@waybill/mail/parsing/ParserPool"
import { afterAll, assert, describe, it } from "../../support/effectTest.ts"
import { documents } from "../../support/process/documents.ts"
import * as Pathological from "../../support/mail/pathological.ts"
import * as PathologicalReports from "../../support/mail/pathologicalReports.ts"

const pools: Array<ParserPool> = []
afterAll(() => Promise.all(pools.map((pool) => pool.end())))

const poolOf = (options: Partial<Options>): ParserPool => {
  const pool = new ParserPool({ deadline_ms: 60_000, ...options })
  pools.push(pool)
  return pool
}

/** Many lines that are joined: each million costs half a second and as many objects. */
const lines = (count: number) => ({
  bytes: Buffer.from(`Content-Type: text/plain; format=flowed\r\n\r\n${"x \r\n".repeat(count)}`),
  record: {},
})
/** A document too large for the event loop that is parsed quickly. */
const LARGE = "x ".repeat(20_000)

const reading = (pool: ParserPool, account: string, input: string, patient = false) =>
  new Promise<ParseOutcome>((resolve) => pool.read("text", input, { account, patient }, resolve))

const showing = (pool: ParserPool, input: ReturnType<typeof lines>) =>
  new Promise<ParseOutcome>((resolve) => pool.read("mail", input, { account: "acme", patient: false }, resolve))

describe("a document on a thread", () => {
  it("that takes too long is killed with its thread, and the next one is read on another", async () => {
    const pool = poolOf({ threads: 1, deadline_ms: 100, deadline_ms_per_mb: 0, memory_mb: 1_024 })
    assert.deepStrictEqual(await showing(pool, lines(4_000_000)), { _tag: "Killed", why: "deadline" })
    assert.strictEqual((await reading(pool, "acme", LARGE))._tag, "Done")
  })

  it("that takes too much memory is killed with its thread, and the next one is read on another", async () => {
    const pool = poolOf({ threads: 1, memory_mb: 40 })
    assert.deepStrictEqual(await showing(pool, lines(4_000_000)), { _tag: "Killed", why: "memory" })
    assert.strictEqual((await reading(pool, "acme", LARGE))._tag, "Done")
  })

  it("waits in a queue that is bounded per account and in total", async () => {
    const pool = poolOf({ threads: 1, perAccount: 2, inAll: 3 })
    const read = Array.from({ length: 4 }, () => reading(pool, "acme", LARGE))
    assert.strictEqual((await read[3])?._tag, "Busy")
    const other = [reading(pool, "other", LARGE), reading(pool, "other", LARGE)]
    assert.strictEqual((await other[1])?._tag, "Busy")
    // Patient callers bound their own number of documents, so they are never refused.
    assert.strictEqual((await reading(pool, "other", LARGE, true))._tag, "Done")
    const rest = await Promise.all([...read.slice(0, 3), other[0]])
    assert.deepStrictEqual(
      rest.map((outcome) => outcome?._tag),
      ["Done", "Done", "Done", "Done"],
    )
  })

  it("takes turns with other accounts", async () => {
    const pool = poolOf({ threads: 1 })
    const order: Array<string> = []
    const noted = (account: string) => reading(pool, account, LARGE).then(() => order.push(account))
    await Promise.all([...Array.from({ length: 5 }, () => noted("many")), noted("one")])
    assert.deepStrictEqual(order, ["many", "many", "one", "many", "many", "many"])
  })

  // threat: fan-out
  it("always finds a free thread beside one busy account", async () => {
    const pool = poolOf({ threads: 2 })
    await Promise.all([reading(pool, "one", LARGE), reading(pool, "other", LARGE)])
    let over = 0
    const slow = Promise.all([1_000_000, 1_000_000].map((count) => showing(pool, lines(count)).then(() => over++)))
    assert.strictEqual((await reading(pool, "other", LARGE))._tag, "Done")
    assert.strictEqual(over, 0)
    await slow
  })

  it("is withdrawn from the queue when its caller is interrupted", async () => {
    const pool = poolOf({ threads: 1 })
    const first = reading(pool, "acme", LARGE)
    let isRead = false
    const takeBack = pool.read("text", LARGE, { account: "acme", patient: false }, () => (isRead = true))
    takeBack()
    await Promise.all([first, reading(pool, "acme", LARGE)])
    assert.isFalse(isRead)
  })
})

describe("a small document", () => {
  it("is parsed on the event loop, which yields between documents", async () => {
    const pool = poolOf({ threads: 1, perAccount: 1_000, inAll: 1_000 })
    const html = "<b>x</b> ".repeat(250)
    assert.isTrue(Small.isSmall("text", html))
    let turns = 0
    let isOver = false
    const turn = (): void => {
      turns++
      if (!isOver) setImmediate(turn)
    }
    setImmediate(turn)
    await Promise.all(Array.from({ length: 100 }, () => reading(pool, "acme", html)))
    isOver = true
    assert.isAbove(turns, 3)
  })

  it("has at most the given bytes, lines, parts, colons, encoded words and tags", () => {
    for (const [piece, most] of [
      ["x", Small.SMALL_MAIL_BYTES],
      ["\n", Small.SMALL_MAIL_LINES],
      ["\n--", Small.SMALL_MAIL_PARTS],
      [":", Small.SMALL_MAIL_COLONS],
      ["=?", Small.SMALL_MAIL_WORDS],
      ["<", Small.SMALL_HTML_TAGS],
    ] as const)
      assert.deepStrictEqual(
        [most, most + 1].map((count) => Small.isSmall("submitted", Buffer.from(piece.repeat(count)))),
        [true, false],
        JSON.stringify(piece),
      )
    const html = [Small.SMALL_HTML_CHARS, Small.SMALL_HTML_CHARS + 1].map((count) =>
      Small.isSmall("text", "x".repeat(count)),
    )
    const tags = [Small.SMALL_HTML_TAGS, Small.SMALL_HTML_TAGS + 1].map((count) =>
      Small.isSmall("text", "<".repeat(count)),
    )
    const links = [Small.SMALL_TRACKED_CHARS, Small.SMALL_TRACKED_CHARS + 1].map((count) =>
      Small.isSmall("links", { html: "x".repeat(count) } as never),
    )
    assert.deepStrictEqual(
      [html, tags, links],
      Array.from({ length: 3 }, () => [true, false]),
    )
  })

  it("takes a few milliseconds at most, whatever it contains", async () => {
    const cpuMillis = () => {
      const { system, user } = process.threadCpuUsage()
      return (system + user) / 1_000
    }
    const grammars = [
      ["submitted", Pathological.MIME],
      ["submitted", Pathological.ADDRESSES],
      ["report", PathologicalReports.REPORTS],
      ["report", PathologicalReports.BOUNCES],
    ] as const
    let small = 0
    for (const [name, grammar] of grammars)
      for (const { name: document, text } of documents(grammar, 8, 200, 33_000)) {
        const bytes = Buffer.from(text, "latin1")
        if (!Small.isSmall(name, bytes)) continue
        small++
        let least = Infinity
        for (let tries = 0; tries < 3 && least > MOST_MS; tries++) {
          const before = cpuMillis()
          await Jobs.jobs[name](bytes)
          least = Math.min(least, cpuMillis() - before)
        }
        assert.isAtMost(least, MOST_MS, document)
      }
    assert.isAbove(small, 200)
  })
})

/** Linux reports the processor time of a thread in steps of up to ten milliseconds. */
const MOST_MS = 50
