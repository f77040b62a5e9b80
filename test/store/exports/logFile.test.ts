import * as LogFile from "@waybill/store/exports/LogFile"
import { system } from "@waybill/store/log/Provenance"
import { assert, describe, it } from "vitest"
import { id } from "../../support/history.ts"

const entry = (position: number): LogFile.Entry => ({
  position,
  event_id: id("EventId"),
  account_id: id("AccountId"),
  stream: "email",
  stream_id: id("EmailId"),
  version: 1,
  type: "EmailCanceled",
  data: { at: "2026-11-21T09:00:00.000Z", words: 'Grüße "あ" \\ \u2028' },
  meta: { ...system, schema_version: 1 },
  recorded_at: "2026-11-21T09:00:00.000Z",
})

const file = (...positions: ReadonlyArray<number>): ReadonlyArray<string> => {
  const chain = new LogFile.Chain()
  return [LogFile.HEADER, ...positions.map((position) => chain.line(entry(position)).trimEnd()), chain.end().trimEnd()]
}

const read = (lines: ReadonlyArray<string>) => {
  const chain = new LogFile.Chain()
  const positions = lines.flatMap((line) => chain.take(line)?.position ?? [])
  return { positions, isEnded: chain.isEnded, events: chain.events }
}

describe("a log file", () => {
  it("is read event by event, up to the end that states their number", () => {
    assert.deepStrictEqual(read(file(3, 4, 9)), { positions: [3, 4, 9], isEnded: true, events: 3 })
    assert.deepStrictEqual(read(file()), { positions: [], isEnded: true, events: 0 })
  })

  it("is incomplete if it was cut off between two lines", () => {
    assert.isFalse(read(file(1, 2).slice(0, -1)).isEnded)
  })

  it("is refused at the line that was changed, lost, repeated, moved or added", () => {
    const lines = file(1, 2, 3)
    const [header = "", one = "", two = "", three = "", end = ""] = lines
    const chain = /^line (\d+): the hash does not follow from the line before$/u
    for (const [nth, spoilt] of [
      [3, [header, one, two.replace("Grüße", "Grüsse"), three, end]],
      [3, [header, one, three, end]],
      [4, [header, one, two, two, three, end]],
      [2, [header, two, one, three, end]],
      [4, [header, one, two, file(3)[1] ?? "", end]],
      [4, [header, one, two, end]],
    ] as const) {
      const found = refusal(() => read(spoilt))
      assert.match(found, chain)
      assert.strictEqual(Number(chain.exec(found)?.[1]), nth)
    }
    assert.strictEqual(
      refusal(() => read([one, two])),
      "line 1: this is not an exported log",
    )
    assert.strictEqual(
      refusal(() => read([header, "{}"])),
      "line 2: this is not a valid line",
    )
    assert.strictEqual(
      refusal(() => read([...lines, end])),
      "line 6: the file continues after its end",
    )
  })

  it("is refused if positions do not increase, even with a valid hash chain", () => {
    for (const positions of [
      [1, 2, 2],
      [1, 2, 1],
    ])
      assert.include(
        refusal(() => read(file(...positions))),
        "positions must increase",
      )
  })
})

const refusal = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    if (error instanceof LogFile.LogFileRefused) return error.message
    throw error
  }
  return "it was taken"
}
