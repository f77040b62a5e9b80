import { assert, it } from "../../../support/effectTest.ts"
import { Effect } from "effect"
import * as ByteLists from "../../../../apps/server/src/compat/lenient/ByteLists.ts"

const compacted = (text: string) => ByteLists.compact(Buffer.from(text)).toString()

it.effect("a list of bytes becomes base64, and nothing else changes", () =>
  Effect.sync(() => {
    const rows = [
      ['{"content":[104,105]}', '{"content":"aGk="}'],
      ['{"Content" : [ 104 ,\n105 ] }', '{"Content" : "aGk=" }'],
      ['{"type":"Buffer","data":[0,255]}', '{"type":"Buffer","data":"AP8="}'],
      ['[{"content":[104]},{"content":[105]}]', '[{"content":"aA=="},{"content":"aQ=="}]'],
    ] as const
    for (const [body, expected] of rows) assert.strictEqual(compacted(body), expected)
    for (const body of [
      '{"content":[]}',
      '{"content":[256]}',
      '{"content":[1,-1]}',
      '{"content":[1.5]}',
      '{"content":[1e2]}',
      '{"content":["1"]}',
      '{"content":[1,]}',
      '{"content":[1',
      '{"content":[1 2]}',
      '{"contents":[1]}',
      '{"xcontent":[1]}',
      '{"html":"\\"content\\":[1,2]"}',
      '{"html":"content:[1,2]"}',
      "[1,2]",
      "[",
      ":[",
      "",
    ])
      assert.strictEqual(compacted(body), body)
  }),
)

it.effect("many lists, whole or broken, take time that grows with the body alone", () =>
  Effect.sync(() => {
    const broken = '{"content":[1,'.repeat(300_000)
    const began = process.cpuUsage().user
    assert.strictEqual(compacted(broken), broken)
    const short = `[${Array.from({ length: 100_000 }, () => '{"data":[1]}').join(",")}]`
    assert.lengthOf(JSON.parse(compacted(short)) as ReadonlyArray<unknown>, 100_000)
    assert.isBelow(process.cpuUsage().user - began, 3_000_000)
  }),
)
