import type * as Layout from "./Layout.ts"

/** Begins a value that is written as JSON because it does not have the form of its field. */
const ESCAPE = "\\"

/** Text that no token holds as it is: with characters that end tokens and rows, or with halves of characters. */
const NEEDS_ESCAPE = /^\\|[^ -\ud7ff\ue000-\uffff]/
/** Whether a text begins as JSON of an array or an object. */
const isJson = (text: string): boolean => {
  const first = text.charCodeAt(0)
  return first === BRACKET || first === BRACE
}
const BRACKET = "[".charCodeAt(0)
const BRACE = "{".charCodeAt(0)
const ESCAPE_CODE = ESCAPE.charCodeAt(0)
const SHA256 = /^[0-9a-f]{64}$/u

const HTML = "h"
const TEXT = "t"
const SHA256_CHARS = 64

type Fields = Readonly<Record<string, unknown>>
const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Orders the keys of objects as `jsonb` does, so that packed and unpacked events have the same text in an export. */
export const compareKeys = (a: string, b: string): number => {
  if (a.length !== b.length || NOT_ASCII.test(a) || NOT_ASCII.test(b)) {
    const [left, right] = [Buffer.from(a), Buffer.from(b)]
    return left.length - right.length || Buffer.compare(left, right)
  }
  return a < b ? -1 : a > b ? 1 : 0
}
const NOT_ASCII = /[^ -~]/u

export const canonical = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(canonical)
  if (!isFields(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort(compareKeys)
      .map((name) => [name, canonical(value[name])]),
  )
}

export const json = (value: unknown): string => JSON.stringify(canonical(value))
const escaped = (value: unknown): string => ESCAPE + json(value)
export const textToken = (value: string): string => (value === "" || NEEDS_ESCAPE.test(value) ? escaped(value) : value)

/** Returns a mailbox as its address, or as its address and name; undefined for what is no mailbox. */
const shortMailbox = (value: unknown): string | ReadonlyArray<string> | undefined => {
  if (!isFields(value) || typeof value["address"] !== "string") return undefined
  for (const name in value) if (name !== "address" && name !== "name") return undefined
  const { address, name } = value
  if (name === undefined) return address
  return typeof name === "string" ? [address, name] : undefined
}
const fullMailbox = (short: string | readonly [address: string, name: string]): unknown =>
  typeof short === "string" ? { address: short } : { name: short[1], address: short[0] }

/** Whether an address can stand alone: no JSON begins like it, and no escape. */
const standsAlone = (short: unknown): short is string =>
  typeof short === "string" && short !== "" && !isJson(short) && !NEEDS_ESCAPE.test(short)

const ofMailbox = (value: unknown): string => {
  const short = shortMailbox(value)
  if (short === undefined) return escaped(value)
  return standsAlone(short) ? short : typeof short === "string" ? escaped(value) : JSON.stringify(short)
}

const ofMailboxes = (value: unknown): string => {
  if (!Array.isArray(value)) return escaped(value)
  const all = value.map(shortMailbox)
  if (all.includes(undefined)) return escaped(value)
  return all.length === 1 && standsAlone(all[0]) ? all[0] : JSON.stringify(all)
}

const ofContent = (value: unknown): string => {
  if (!isFields(value) || Object.keys(value).length !== 4) return escaped(value)
  const { attachments, has_html, has_text, sha256 } = value
  const isPlain =
    typeof sha256 === "string" &&
    SHA256.test(sha256) &&
    typeof has_html === "boolean" &&
    typeof has_text === "boolean" &&
    Array.isArray(attachments) &&
    attachments.length === 0
  return isPlain ? `${sha256}${has_html ? HTML : ""}${has_text ? TEXT : ""}` : escaped(value)
}

/** Writes a value that is not the usual one. */
export const write = (form: Layout.Form, value: unknown): string => {
  switch (form) {
    case "text":
      return typeof value === "string" ? textToken(value) : escaped(value)
    case "number":
      return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? String(value) : escaped(value)
    case "json":
      return json(value)
    case "mailbox":
      return ofMailbox(value)
    case "mailboxes":
      return ofMailboxes(value)
    case "content":
      return ofContent(value)
  }
}

const ONE = '[["'
const ONE_END = '"]]'
const BETWEEN = '","'

/** Returns the mailbox of `[["address","name"]]`, as most messages have it; undefined for any other list. */
const oneMailbox = (token: string): ReadonlyArray<unknown> | undefined => {
  if (!token.startsWith(ONE) || !token.endsWith(ONE_END) || token.includes(ESCAPE)) return undefined
  const end = token.indexOf('"', ONE.length)
  if (!token.startsWith(BETWEEN, end)) return undefined
  const name = end + BETWEEN.length
  if (token.indexOf('"', name) !== token.length - ONE_END.length) return undefined
  return [fullMailbox([token.slice(ONE.length, end), token.slice(name, -ONE_END.length)])]
}

/** Reads a token that is not empty. */
export const read = (form: Layout.Form, token: string): unknown => {
  if (token.charCodeAt(0) === ESCAPE_CODE) return JSON.parse(token.slice(1))
  switch (form) {
    case "text":
      return token
    case "number":
      return Number(token)
    case "json":
      return JSON.parse(token)
    case "mailbox":
      return fullMailbox(isJson(token) ? JSON.parse(token) : token)
    case "mailboxes":
      return oneMailbox(token) ?? (isJson(token) ? JSON.parse(token).map(fullMailbox) : [{ address: token }])
    case "content":
      return {
        sha256: token.slice(0, SHA256_CHARS),
        has_html: token.includes(HTML, SHA256_CHARS),
        has_text: token.includes(TEXT, SHA256_CHARS),
        attachments: [],
      }
  }
}
