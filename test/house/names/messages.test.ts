import { assert, it } from "vitest"
import { paths, read } from "../source.ts"

/** Folders that translate requests and refusals. */
const DOORS = /^apps\/server\/src\/(?:cli|compat|mcp|providers|smtp|webhookFormats)\//u

/** Lines that look for words in a message. White space and line breaks are no words. */
const READS = [
  /\bmessage\b\)?\.(?:endsWith|includes|indexOf|match|matchAll|replace|replaceAll|search|split|startsWith)\((?!\/\\s\+\/gu|"\\n")/u,
  /\.(?:exec|test)\([^()]*\bmessage\b/u,
  /\bmessage [!=]== "[^"]* [^"]*"/u,
]

const readsIn = (text: string) => text.split("\n").filter((line) => READS.some((pattern) => pattern.test(line)))

it("no door reads the words of a message: the classes of refusals have what a door needs", () => {
  const found = paths
    .filter((path) => DOORS.test(path))
    .flatMap((path) => readsIn(read(path).text).map((line) => `${path}: ${line.trim()}`))
  assert.deepStrictEqual(found, [])
})

it("lines that read the words of a message are found", () => {
  const lines = [
    'if (error.message.includes("is not a domain")) return',
    "const others = / more errors?/u.exec(message)?.[1]",
    'if (first.message === "is required") return',
    "details.map((detail) => detail.message.split(' ', 1)[0])",
  ]
  assert.deepStrictEqual(readsIn(lines.join("\n")), lines)
  assert.deepStrictEqual(
    readsIn('message.replace(/\\s+/gu, " ")\nmessage.split("\\n")\nif (message === "unanswered")'),
    [],
  )
})
