import * as TemplateState from "@waybill/domain/template/TemplateState"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as Programs from "../../../apps/server/src/templates/Programs.ts"
import { assert, describe, it } from "../../support/effectTest.ts"

const CHARS = 100_000
/** Memory that the test itself needs, and what is freed only later. */
const SLACK_BYTES = 8 * 1024 * 1024

const row = `<tr><td style="padding: 8px">{{ row.name | upcase }}</td><td>${"Some words ".repeat(9)}</td></tr>`
/** How many are kept, and how many of them are parsed: more than fit several times, since parsing takes most of the time. */
const FORMS: ReadonlyArray<readonly [name: string, html: string, count: number, parsed: number]> = [
  ["a thousand of 100 KB", row.repeat(Math.floor(CHARS / row.length)), 1_000, 100],
  ["a hundred of long conditions", `{% if a${" or a".repeat(800)} %}{% endif %}`.repeat(10), 100, 40],
  ["a hundred of many filters", `{{ a${"|abs".repeat(1_000)} }}`.repeat(10), 100, 40],
  ["a hundred as dense as can be", "{{ a.b | upcase | append: c }}".repeat(1_900), 100, 40],
]

const collect = (): (() => void) => {
  setFlagsFromString("--expose_gc")
  return runInNewContext("gc") as () => void
}

describe("parsed templates", () => {
  for (const [name, html, count, parsed] of FORMS)
    it(`stay within their memory: ${name}`, { timeout: 300_000 }, () => {
      const gc = collect()
      const heap = () => {
        gc()
        return process.memoryUsage().heapUsed
      }
      const caches = Programs.make()
      const before = heap()
      for (let nth = 0; nth < count; nth++) {
        const source = { ...TemplateState.EMPTY, html: `<p>${nth}</p>${html}` }
        Programs.keepSource(caches, String(nth), source)
        if (nth >= count - parsed) Programs.compile(caches, String(nth), source, new Map(), undefined)
      }
      const bytes = heap() - before
      assert.isBelow(bytes, Programs.MAX_PROGRAM_BYTES + Programs.MAX_SOURCE_BYTES + SLACK_BYTES)
      assert.isAbove(caches.programs.size, 3)
      assert.isDefined(caches.programs.get(String(count - 1)))
    })
})
