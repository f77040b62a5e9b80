import { assert, it } from "../../../support/effectTest.ts"
import { Effect } from "effect"
import * as ByteLists from "../../../../apps/server/src/compat/lenient/ByteLists.ts"

const compacted = (text: string) => ByteLists.compact(Buffer.from(text)).toString()

it.effect("a list of bytes becomes base64, and nothing else changes", () =>
  Effect.sync(() => {
    const rows = [
      ['{"attachments":[{"content":[104,105]}]}', '{"attachments":[{"content":"aGk="}]}'],
      ['{"Attachments" : [ {"Content" : [ 104 ,\n105 ] }]}', '{"Attachments" : [ {"Content" : "aGk=" }]}'],
      [
        '{"attachments":[{"content":{"type":"Buffer","data":[0,255]}}]}',
        '{"attachments":[{"content":{"type":"Buffer","data":"AP8="}}]}',
      ],
      [
        '[{"attachments":[{"content":[104]},{"content":[105]}]},{"to":["a"],"attachments":[{"content":[105]}]}]',
        '[{"attachments":[{"content":"aA=="},{"content":"aQ=="}]},{"to":["a"],"attachments":[{"content":"aQ=="}]}]',
      ],
      ['{"Messages":[{"Attachments":[{"Content":[104]}]}]}', '{"Messages":[{"Attachments":[{"Content":"aA=="}]}]}'],
    ] as const
    for (const [body, expected] of rows) assert.strictEqual(compacted(body), expected)
    const inAttachment = (field: string) => `{"attachments":[{${field}}]}`
    for (const body of [
      ...[
        '"content":[]',
        '"content":[256]',
        '"content":[1,-1]',
        '"content":[1.5]',
        '"content":[1e2]',
        '"content":["1"]',
        '"content":[1,]',
        '"content":[1',
        '"content":[1 2]',
        '"contents":[1]',
        '"xcontent":[1]',
        '"data":[1]',
        '"html":"\\"content\\":[1,2]"',
        '"html":"content:[1,2]"',
      ].map(inAttachment),
      '{"content":[1]}',
      '{"attachments":[],"template":{"variables":{"attachments":[{"content":[1,2],"data":[1]}]}}}',
      '{"personalizations":[{"dynamic_template_data":{"data":[10,20]}}],"attachments":[]}',
      '{"TemplateModel":{"data":[10],"Content":[1]},"Attachments":[{"Name":"a"}]}',
      '[1,2,"attachments"]',
      '{"attachments":]}[1]',
      '"attachments":[',
      "[",
      ":[",
      "",
    ])
      assert.strictEqual(compacted(body), body)
  }),
)

it.effect("many lists, whole or broken, take time that grows with the body alone", () =>
  Effect.sync(() => {
    const broken = `{"attachments":[${'{"content":[1,'.repeat(300_000)}`
    const began = process.cpuUsage().user
    assert.strictEqual(compacted(broken), broken)
    const short = `{"attachments":[${Array.from({ length: 870_000 }, () => '{"content":[1]}').join(",")}]}`
    assert.strictEqual(compacted(short), short, "too many values to be parsed")
    const few = `{"attachments":[${Array.from({ length: 40_000 }, () => '{"content":[1]}').join(",")}]}`
    assert.notInclude(compacted(few), "[1]")
    assert.isBelow(process.cpuUsage().user - began, 3_000_000)
  }),
)
