import { readFileSync } from "node:fs"
import { assert, it } from "../support/effectTest.ts"

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")

it("every table stands in docs/operating/replay.md, with how it is proved or that nothing proves it", () => {
  const tables = [...read("db/schema.sql").matchAll(/^CREATE (?:UNLOGGED )?TABLE (\w+)/gmu)].map(([, name]) => name)
  const rows = read("docs/operating/replay.md")
    .split("\n")
    .filter((line) => line.startsWith("| `"))
  const named = rows.flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`(\w+)`/gu)].map(([, name]) => name))
  assert.deepStrictEqual(named.toSorted(), tables.toSorted())
})
