import * as Copy from "@waybill/store/copy/Copy"
import { CopyReader } from "@waybill/store/copy/CopyReader"
import { Effect, Redacted } from "effect"
import pg from "pg"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"

const message = (kind: string, text: string): Buffer => {
  const body = Buffer.from(text)
  const head = Buffer.alloc(5)
  head.write(kind)
  head.writeInt32BE(4 + body.length, 1)
  return Buffer.concat([head, body])
}

/** Reads bytes in parts of a size, and returns what was taken in order. */
const readIn = (bytes: Buffer, size: number) => {
  const taken: Array<string> = []
  const reader = new CopyReader(
    (rows, from, to) => taken.push(`row ${rows.utf8(from, to)}`),
    (other) => taken.push(`other ${other.toString("latin1")}`),
  )
  for (let at = 0; at < bytes.length; at += size) reader.read(bytes.subarray(at, at + size))
  return { taken, rest: reader.rest().toString("latin1") }
}

describe("a reader of COPY", () => {
  it("finds rows and other messages wherever the bytes are cut", () => {
    const texts = ["", "a", "größe", "x".repeat(700_000), "用户"]
    const bytes = Buffer.concat([
      message("H", "head"),
      ...texts.map((text) => message("d", text)),
      message("c", ""),
      Buffer.from("Z"),
    ])
    const [head, done] = [message("H", "head"), message("c", "")].map((each) => `other ${each.toString("latin1")}`)
    const expected = [head, ...texts.map((text) => `row ${text}`), done]
    for (const size of [1, 3, 65_536, bytes.length])
      assert.deepStrictEqual(readIn(bytes, size), { taken: expected as Array<string>, rest: "Z" })
  })

  it("knows whether a part of a row is ASCII, wherever it begins and ends", () => {
    for (let at = 0; at < 24; at++) {
      const row = Buffer.alloc(24, "a").fill(0x80, at, at + 1)
      const reader = new CopyReader(
        (rows, begin) => {
          for (let from = 0; from <= row.length; from++)
            for (let to = from; to <= row.length; to++)
              assert.strictEqual(rows.isAscii(begin + from, begin + to), at < from || at >= to)
        },
        () => assert.fail("no other message was sent"),
      )
      reader.read(Buffer.concat([message("d", "a".repeat(24)).subarray(0, 5), row]))
    }
  })
})

const ROWS = 100_000
const statement = (columns: string, rows = ROWS) =>
  `COPY (SELECT ${columns} FROM generate_series(1, ${rows}) n) TO STDOUT`

layer(Database.layerFresh, { excludeTestServices: true })("a COPY", (it) => {
  it.effect("hands out each row, and leaves the connection usable even if it fails", function* () {
    const { url } = yield* Database.Fresh
    yield* Effect.promise(async () => {
      const client = new pg.Client({ connectionString: Redacted.value(url) })
      await client.connect()
      try {
        let rows = 0
        let sum = 0
        const count = (reader: CopyReader, from: number, to: number) => {
          rows++
          sum += Number(reader.latin1(from, to))
        }
        await Copy.out(client, statement("n"), count)
        assert.deepStrictEqual([rows, sum], [ROWS, (ROWS * (ROWS + 1)) / 2])
        const failed = (text: string, take: typeof count) => Copy.out(client, text, take).catch(String)
        // Both are submitted at once, so that the second begins when the first has ended.
        const failures = await Promise.all([
          failed(statement(`1 / (n - ${ROWS})`), count),
          failed(statement("n"), () => {
            throw new Error("no more")
          }),
        ])
        assert.include(failures[0], "division by zero")
        assert.include(failures[1], "no more")
        await Copy.out(client, statement("n", 3), count)
        const { rows: answer } = await client.query<{ readonly two: number }>("SELECT 1 + 1 AS two")
        assert.deepStrictEqual([answer, rows], [[{ two: 2 }], ROWS + (ROWS - 1) + 3])
      } finally {
        await client.end()
      }
    })
  })

  it.effect("passes rows on to another server that is slower, and leaves both connections usable", function* () {
    const { url } = yield* Database.Fresh
    yield* Effect.promise(async () => {
      const connectionString = Redacted.value(url)
      const [source, target] = [new pg.Client({ connectionString }), new pg.Client({ connectionString })]
      await Promise.all([source.connect(), target.connect()])
      try {
        await target.query("CREATE TABLE copies (text text)")
        // The last row fills the buffer of the target, so that the source waits when it has no more to send.
        for (let nth = 0; nth < 3; nth++)
          await Copy.through(source, `COPY (SELECT repeat('x', 3000000)) TO STDOUT`, target, "COPY copies FROM STDIN")
        const { rows } = await target.query("SELECT count(*)::int AS n, sum(length(text))::int AS chars FROM copies")
        assert.deepStrictEqual(rows, [{ n: 3, chars: 9_000_000 }])
      } finally {
        await Promise.all([source.end(), target.end()])
      }
    })
  })
})
