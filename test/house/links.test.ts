import { existsSync } from "node:fs"
import { posix } from "node:path"
import { assert, describe, it } from "../support/effectTest.ts"
import * as DocCommands from "../support/process/DocCommands.ts"
import { paths, read } from "./source.ts"

const documents = paths.filter((path) => path.endsWith(".md") && !path.startsWith("test/")).map(read)

const withoutFences = (text: string) => text.replace(/^[ \t]*```[^]*?^[ \t]*```$/gmu, "")

/** Anchor of a heading, as GitHub makes it. */
const anchor = (heading: string) =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/gu, "$1")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/gu, "-")

const MAX_WORDS = 30

/** Sentences of prose: a colon and a semicolon end one too, and code is one word. Tables are read cell by cell by their readers. */
const sentences = (text: string): ReadonlyArray<string> =>
  withoutFences(text)
    .replace(/<!--[^]*?-->/gu, "")
    .split(/\n\s*\n|\n(?=[-*] |\d+\. |#|\|)/u)
    .filter((part) => !/^\s*(?:\||#|<)/u.test(part))
    .flatMap((part) =>
      part
        .replace(/^\s*(?:[-*]|\d+\.)\s+/u, "")
        .replace(/\[([^\]]*)\]\([^)]*\)/gu, "$1")
        .replace(/`[^`]*`/gu, "x")
        .replace(/\s+/gu, " ")
        .split(/(?<=[.?!])\s+(?=[A-Z0-9x*"(])|[:;] /u),
    )

const anchors = (path: string): ReadonlyArray<string> =>
  [...withoutFences(read(path).text).matchAll(/^#+ (.+)$/gmu)].map(([, heading = ""]) => anchor(heading))

const isBroken = (from: string, link: string): boolean => {
  const [file = "", heading] = link.split("#")
  const path = file === "" ? from : posix.join(posix.dirname(from), file)
  if (!existsSync(path)) return true
  return heading !== undefined && !anchors(path).includes(heading)
}

describe("the documentation", () => {
  it("has no link that leads nowhere", () => {
    const links = documents.flatMap(({ path, text }) =>
      [...withoutFences(text).matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/gu)]
        .map(([, link, image]) => ({ path, link: link ?? image ?? "" }))
        .filter(({ link }) => !/^[a-z]+:/u.test(link)),
    )
    assert.isAbove(links.length, 150)
    assert.deepStrictEqual(
      links.filter(({ link, path }) => isBroken(path, link)),
      [],
    )
  })

  it("has no sentence of more than 30 words", () => {
    const long = documents
      .filter(({ path }) => /^(?:README\.md|docs\/(?!decisions|events\.md))/u.test(path))
      .flatMap(({ path, text }) => sentences(text).map((sentence) => ({ path, sentence })))
      .filter(({ sentence }) => sentence.split(" ").filter((word) => /\w/u.test(word)).length > MAX_WORDS)
    assert.deepStrictEqual(long, [])
  })

  it("names the language of each sample, and says of each command how it is tested", () => {
    const docs = documents.filter(({ path }) => path.startsWith("docs/"))
    for (const { path, text } of docs) {
      const fences = [...text.matchAll(/^[ \t]*```(.*)$/gmu)].map(([, info = ""]) => info)
      for (const info of fences.filter((_, nth) => nth % 2 === 0)) assert.match(info, /^[a-z]+/u, path)
      DocCommands.blocks(path)
    }
  })

  it("has each decision once, on a page that the list of decisions names", () => {
    const decisions = documents.filter(({ path }) => /^docs\/decisions\/(?!README)/u.test(path))
    const numbers = decisions.flatMap(({ text }) =>
      [...withoutFences(text).matchAll(/^#{1,2} (\d{4}): .+$/gmu)].map(([, number = ""]) => number),
    )
    assert.isAbove(numbers.length, 30)
    assert.lengthOf(new Set(numbers), numbers.length)
    const { text } = read("docs/decisions/README.md")
    const missing = decisions.filter(({ path }) => !text.includes(`(${posix.basename(path)})`))
    assert.deepStrictEqual(missing, [])
  })
})
