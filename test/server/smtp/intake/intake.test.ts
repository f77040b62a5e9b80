import { mock } from "node:test"
import * as LargeMails from "../../../../apps/server/src/inbound/LargeMails.ts"
import { MessageStream } from "../../../../apps/server/src/smtp/session/MessageStream.ts"
import * as Intake from "../../../../apps/server/src/smtp/Intake.ts"
import { assert, describe, it } from "../../../support/effectTest.ts"

const stream = () => new MessageStream(() => undefined)

const receive = (intake: Intake.Intake, chunks: ReadonlyArray<string>, end = true, kept?: Intake.Kept) => {
  const source = stream()
  const taken = new Promise<Intake.Received>((resolve) => intake.receive(source, resolve, kept))
  for (const chunk of chunks) source.write(Buffer.from(chunk))
  if (end) source.end()
  return { source, taken }
}

const said = (taken: Intake.Received): string =>
  taken._tag === "Whole" ? taken.bytes.toString() : taken._tag === "Refused" ? `${taken.reply.code}` : "gone"

describe("SMTP intake", () => {
  it("limits the bytes of all messages until they are processed", async () => {
    const intake = Intake.make({ maxMessageBytes: 8, strictLines: false, maxBytesHeld: 10 })
    const first = await receive(intake, ["123456"]).taken
    assert.strictEqual(said(await receive(intake, ["12345"]).taken), "452")
    assert.strictEqual(said(await receive(intake, ["1234"]).taken), "1234")
    if (first._tag === "Whole") first.release()
    assert.strictEqual(said(await receive(intake, ["12345"]).taken), "12345")
  })

  it("refuses a declared size that does not fit beside what it holds", async () => {
    const intake = Intake.make({ maxMessageBytes: 100, strictLines: false, maxBytesHeld: 20 })
    const kept = { bytes: 8, maxHeld: 10 }
    const first = await receive(intake, ["123"], true, kept).taken
    assert.deepStrictEqual([intake.refuses(7, kept), intake.refuses(17)], [undefined, undefined])
    assert.deepStrictEqual([intake.refuses(8, kept)?.code, intake.refuses(18)?.code], [452, 452])
    // What is beyond the kept beginning takes no space.
    assert.deepStrictEqual([intake.refuses(99, { bytes: 8 }), intake.refuses(99)?.code], [undefined, 452])
    if (first._tag === "Whole") first.release()
    assert.isUndefined(intake.refuses(20))
  })

  it("releases the bytes of a client that disconnects", async () => {
    const intake = Intake.make({ maxMessageBytes: 8, strictLines: false, maxBytesHeld: 8 })
    const { source, taken } = receive(intake, ["12345678"], false)
    await new Promise((resolve) => setImmediate(resolve))
    source.destroy()
    assert.strictEqual(said(await taken), "gone")
    assert.strictEqual(said(await receive(intake, ["12345678"]).taken), "12345678")
  })

  it("refuses a message that is too large and holds none of it", async () => {
    const intake = Intake.make({ maxMessageBytes: 8, strictLines: false, maxBytesHeld: 8 })
    assert.strictEqual(said(await receive(intake, ["1234", "56789", "more and more"]).taken), "552")
    assert.strictEqual(said(await receive(intake, ["12345678"]).taken), "12345678")
  })

  it("keeps only the beginning of a message if that is enough", async () => {
    const intake = Intake.make({ maxMessageBytes: 100, strictLines: false, maxBytesHeld: 5 })
    assert.strictEqual(said(await receive(intake, ["123", "4567", "89"], true, { bytes: 5 }).taken), "12345")
  })

  // threat: domain-reports
  it("leaves space for others beside messages that anybody may send", async () => {
    const intake = Intake.make({ maxMessageBytes: 100, strictLines: false, maxBytesHeld: 20 })
    const kept = { bytes: 8, maxHeld: 10 }
    const first = await receive(intake, ["123456789"], true, kept).taken
    assert.strictEqual(said(first), "12345678")
    assert.strictEqual(said(await receive(intake, ["123"], true, kept).taken), "452")
    assert.strictEqual(said(await receive(intake, ["1234567890"]).taken), "1234567890")
    if (first._tag === "Whole") first.release()
    assert.strictEqual(said(await receive(intake, ["123"], true, kept).taken), "123")
  })

  it("makes a bare LF a CRLF and refuses a bare CR, wherever chunks are split", async () => {
    const intake = Intake.make({ maxMessageBytes: 100, strictLines: true })
    const verdicts = await Promise.all(
      [
        ["a\r\n"],
        ["a\r", "\n"],
        ["a\n"],
        ["a", "\n.\n", "b"],
        ["\n\n"],
        ["a\r\n\n"],
        ["a"],
        ["a\r"],
        ["a\rb"],
        ["a\r\r\n"],
      ].map(async (chunks) => said(await receive(intake, chunks).taken)),
    )
    assert.deepStrictEqual(verdicts, [
      "a\r\n",
      "a\r\n",
      "a\r\n",
      "a\r\n.\r\nb",
      "\r\n\r\n",
      "a\r\n\r\n",
      "a",
      "554",
      "554",
      "554",
    ])
  })

  it("counts the bytes that line ends add, and holds none of a message that they make too large", async () => {
    const intake = Intake.make({ maxMessageBytes: 8, strictLines: true, maxBytesHeld: 10 })
    assert.strictEqual(said(await receive(intake, ["1\n2\n3\n"]).taken), "552")
    const first = await receive(intake, ["1\n2\n"]).taken
    assert.strictEqual(said(first), "1\r\n2\r\n")
    assert.strictEqual(said(await receive(intake, ["123\n"]).taken), "452")
    if (first._tag === "Whole") first.release()
    assert.strictEqual(said(await receive(intake, ["123456\n"]).taken), "123456\r\n")
  })

  describe("places of large messages", () => {
    const LARGE = ["x".repeat(LargeMails.SMALL_BYTES), "x"]
    /** One that keeps its place while it is processed. */
    const LARGEST = ["x".repeat(LargeMails.SETTLED_BYTES), "x"]
    const make = (places: number) => {
      const intake = Intake.make({ maxMessageBytes: 8e6, strictLines: false })
      const of = new LargeMails.LargeMails(places)
      return (pieces: ReadonlyArray<string>, network: string, end = true) =>
        receive(intake, pieces, end, { bytes: 8e6, places: { of, network } })
    }
    const turn = () => new Promise((resolve) => setImmediate(resolve))

    // threat: memory-budgets
    it("makes large ones wait in turns of their networks, and small ones not at all", async () => {
      const send = make(2)
      const first = await send([...LARGEST, "1"], "a").taken
      const order: Array<string> = []
      const others = ["2", "3", "4"].map((last) => send([...LARGEST, last], last === "4" ? "b" : "a"))
      for (const { taken } of others) void taken.then((each) => order.push(said(each).slice(-1)))
      assert.strictEqual(said(await send(["small"], "a").taken), "small")
      await turn()
      assert.deepStrictEqual(order, ["4"])
      assert.isTrue(others[0]?.source.isPaused())
      if (first._tag === "Whole") first.release()
      const second = await others[0]?.taken
      assert.strictEqual(second?._tag === "Whole" && second.bytes.length, LargeMails.SETTLED_BYTES + 2)
      assert.deepStrictEqual(order, ["4", "2"])
      others[1]?.source.destroy()
      assert.strictEqual(said(await (others[1]?.taken ?? Promise.reject(new Error()))), "gone")
    })

    // threat: slow-clients
    it("gives a place back when its mail is whole, however long that is judged, unless it is among the largest", async () => {
      const send = make(1)
      const judged = [await send(LARGE, "a").taken, await send(LARGE, "b").taken, await send(LARGEST, "c").taken]
      assert.deepStrictEqual(
        judged.map(({ _tag }) => _tag),
        ["Whole", "Whole", "Whole"],
      )
      const next = send(LARGE, "d")
      await turn()
      assert.isTrue(next.source.isPaused())
      for (const each of judged) if (each._tag === "Whole") each.release()
      assert.strictEqual((await next.taken)._tag, "Whole")
    })

    /** Runs steps at times that the test sets. */
    const timed = async (steps: (wait: (ms: number) => Promise<void>) => Promise<void>) => {
      mock.timers.enable({ apis: ["setTimeout", "setInterval"] })
      let ms = 0
      mock.method(performance, "now", () => ms)
      try {
        await steps(async (more) => {
          // Lets the streams begin.
          await turn()
          for (const end = ms + more; ms < end;) {
            const step = Math.min(250, end - ms)
            ms += step
            mock.timers.tick(step)
            await turn()
          }
        })
      } finally {
        mock.reset()
      }
    }
    const tag = async ({ taken }: ReturnType<typeof receive>) => (await taken)._tag

    // threat: slow-clients
    it("puts off one that waits too long for its own network, and takes the place of one that is too slow for others", () =>
      timed(async (wait) => {
        const send = make(1)
        const slow = send(LARGE, "a", false)
        const own = send([...LARGE, "x"], "a")
        await wait(LargeMails.PLACE_WITHIN_MS)
        assert.strictEqual(await tag(own), "Refused")
        assert.isFalse(slow.source.isPaused())
        const next = send([...LARGE, "x"], "b")
        await wait(250)
        assert.strictEqual(await tag(next), "Whole")
        slow.source.end()
        assert.strictEqual(await tag(slow), "Refused")
      }))

    // threat: slow-clients
    it("gives a network that waits the place of the slowest within a minute, however slowly mails of others come", () =>
      timed(async (wait) => {
        const places = 6
        const send = make(places)
        const drips = Array.from({ length: places }, (_, nth) => send(LARGE, `slow ${nth}`, false))
        await wait(250)
        const waiting = send([...LARGE, "x"], "b")
        let taken = ""
        void tag(waiting).then((found) => (taken = found))
        for (let second = 1; second <= LargeMails.LONGEST_TURN_MS / 1_000; second++) {
          // Above the least that a mail may come with; the third one is the slowest.
          for (const [nth, { source }] of drips.entries())
            if (!source.destroyed)
              source.write(Buffer.alloc(LargeMails.LEAST_BYTES_PER_SECOND + (nth === 2 ? 100 : 200)))
          await wait(1_000)
        }
        assert.strictEqual(taken, "Whole")
        drips[2]?.source.end()
        assert.strictEqual(drips[2] && (await tag(drips[2])), "Refused")
        for (const [nth, drip] of drips.entries()) {
          drip.source.end()
          assert.strictEqual(await tag(drip), nth === 2 ? "Refused" : "Whole")
        }
      }))

    // threat: slow-clients
    it("gives each of 400 slow networks and those behind them a turn in time", () =>
      timed(async (wait) => {
        const send = make(6)
        const slow = Array.from({ length: 400 }, (_, nth) => send(LARGE, `slow ${nth}`, false))
        await wait(250)
        const last = send([...LARGE, "x"], "last")
        await wait(LargeMails.PLACE_WITHIN_MS - 250)
        assert.strictEqual(await tag(last), "Whole")
        for (const { source } of slow) source.destroy()
      }))
  })
})
