import PostalMime from "postal-mime"
import { assert, describe, it } from "vitest"
import * as Heading from "../../../packages/mail/src/inbound/Heading.ts"
import { readFile } from "../../../packages/mail/src/inbound/readFile.ts"
import { showInbound } from "../../../packages/mail/src/inbound/showInbound.ts"
import { automatic } from "./automatic.ts"
import { charsets } from "./charsets.ts"
import { encodings } from "./encodings.ts"
import { headers } from "./headers.ts"
import { kinds } from "./kinds.ts"
import { programs } from "./programs.ts"
import type { Shape } from "./Shape.ts"
import { structure } from "./structure.ts"

const SHAPES: ReadonlyArray<Shape> = [
  ...programs,
  ...charsets,
  ...encodings,
  ...headers,
  ...structure,
  ...kinds,
  ...automatic,
]

interface Shown {
  readonly text: string | null
  readonly html: string | null
  readonly stripped_text: string | null
}

/** Reads a mail as the service does. */
const read = (raw: Buffer) => {
  const heading = Heading.read(raw)
  const shown = JSON.parse(Buffer.from(showInbound({ bytes: raw, record: {} })).toString("utf8")) as Shown
  const trimmed = (text: string | null) => text?.replaceAll("\r\n", "\n").trim() ?? null
  const first = readFile({ bytes: raw, nth: 0 })
  return {
    subject: heading.subject,
    from: heading.from?.address ?? null,
    sender: heading.from?.name,
    to: heading.to.map(({ address }) => address),
    text: trimmed(shown.text),
    html: trimmed(shown.html),
    stripped: shown.stripped_text,
    files: heading.attachments.map(({ content_type, filename }) => [filename, content_type]),
    content: first === undefined ? undefined : Buffer.from(first).toString("latin1"),
    automatic: heading.automatic,
    complete: heading.complete,
    date: heading.date,
    message_id: heading.message_id,
    in_reply_to: heading.in_reply_to,
    references: heading.references.length,
  }
}

/** Says in what a reading differs from what is expected. */
const differences = ({ is, raw }: Shape): ReadonlyArray<string> => {
  const found = read(raw)
  return Object.entries(is).flatMap(([field, expected]) => {
    const value = found[field as keyof typeof found]
    const given =
      field === "files"
        ? (is.files ?? []).map((each, nth) => (typeof each === "string" ? found.files[nth]?.[0] : found.files[nth]))
        : value
    const isSame =
      expected instanceof RegExp
        ? typeof value === "string" && expected.test(value)
        : JSON.stringify(given) === JSON.stringify(expected) &&
          (field !== "files" || found.files.length === is.files?.length)
    return isSame
      ? []
      : [
          `${field}: ${JSON.stringify(value)?.slice(0, 200)} instead of ${expected instanceof RegExp ? expected : JSON.stringify(expected)?.slice(0, 200)}`,
        ]
  })
}

/** What postal-mime reads of a mail, as far as it reads the same fields. */
const other = async ({ is, raw }: Shape): Promise<ReadonlyArray<string>> => {
  const mail = await PostalMime.parse(raw)
  const trimmed = (text: string | undefined) => text?.replaceAll("\r\n", "\n").trim() || null
  const found = {
    subject: mail.subject ?? null,
    from: mail.from?.address ?? null,
    text: trimmed(mail.text),
    html: trimmed(mail.html),
  }
  return Object.entries(found).flatMap(([field, value]) => {
    const expected = is[field as keyof typeof found]
    if (expected === undefined) return []
    const isSame = expected instanceof RegExp ? expected.test(value ?? "") : (expected || null) === (value || null)
    return isSame ? [] : [`${field}: ${JSON.stringify(value)?.slice(0, 120)}`]
  })
}

describe("a mail as the world sends it", () => {
  it("has a shape of its own in each of 300", () => {
    assert.isAtLeast(SHAPES.length, 300)
    assert.lengthOf(new Set(SHAPES.map(({ name }) => name)), SHAPES.length)
    assert.lengthOf(new Set(SHAPES.map(({ raw }) => raw.toString("latin1"))), SHAPES.length)
  })

  it.each(SHAPES)("$name", (each) => {
    assert.deepStrictEqual(differences(each), [])
  })

  it("is read by postal-mime in the same way, or in one that is no better", async () => {
    const unlike = await Promise.all(SHAPES.map(async (each) => ((await other(each)).length > 0 ? [each.name] : [])))
    assert.deepStrictEqual(
      unlike.flat(),
      SHAPES.filter((each) => each.unlike !== undefined).map(({ name }) => name),
    )
  })
})
