/** Maximum fields of one block, and characters of one value: reports are small, and larger ones are hostile. */
const FIELDS_LIMIT = 200
const VALUE_LENGTH_LIMIT = 4096
const BLOCKS_LIMIT = 500
/** Characters kept of a server's text, as in the timeline. */
const DIAGNOSTIC_LENGTH_LIMIT = 512
const ADDRESS_LENGTH_LIMIT = 320
const HOST_LENGTH_LIMIT = 255

/** Fields of one block by lower-case name, each with all its values in order. */
export type Fields = ReadonlyMap<string, ReadonlyArray<string>>

export const first = (fields: Fields, ...names: ReadonlyArray<string>): string | undefined => {
  for (const name of names) {
    const value = fields.get(name)?.[0]
    if (value !== undefined && value !== "") return value
  }
  return undefined
}

/** Returns the blocks of `Name: value` separated by empty lines, as in RFC 3464 §2.1. */
export const blocks = (text: string): ReadonlyArray<Fields> =>
  text
    .replace(/\r\n?/g, "\n")
    .split(/\n[ \t]*\n/, BLOCKS_LIMIT)
    .map(block)
    .filter((fields) => fields.size > 0)

export const block = (text: string): Fields => {
  const fields = new Map<string, Array<string>>()
  let last: Array<string> | undefined
  for (const line of text.split(/\r?\n/, FIELDS_LIMIT * 4)) {
    if (/^[ \t]/.test(line)) {
      const value = last?.at(-1)
      if (last !== undefined && value !== undefined && value.length < VALUE_LENGTH_LIMIT) {
        last[last.length - 1] = `${value} ${line.trim()}`.trim().slice(0, VALUE_LENGTH_LIMIT)
      }
      continue
    }
    const colon = line.indexOf(":")
    const name = colon > 0 ? line.slice(0, colon).trim().toLowerCase() : ""
    if (!/^[!-9;-~]{1,76}$/.test(name) || fields.size >= FIELDS_LIMIT) continue
    last = fields.get(name) ?? []
    if (last.length < FIELDS_LIMIT)
      last.push(
        line
          .slice(colon + 1)
          .trim()
          .slice(0, VALUE_LENGTH_LIMIT),
      )
    fields.set(name, last)
  }
  return fields
}

/** Returns the head of a message that is included whole or as headers only. */
export const head = (text: string): Fields => {
  const start = text.search(/\S/)
  const rest = start === -1 ? "" : text.slice(start)
  const end = rest.search(/\r?\n\r?\n/)
  return block(end === -1 ? rest : rest.slice(0, end))
}

/** Parses `rfc822; ana@example.org`, `utf-8; …`, with or without type and angle brackets. */
export const address = (value: string | undefined): string | undefined => {
  if (value === undefined) return undefined
  const [, type = "", rest = value] = /^\s*([A-Za-z0-9-]+)\s*;(.*)$/s.exec(value) ?? []
  const decoded = /^utf-8$/i.test(type) ? utf8Address(rest) : rest
  const [, bracketed] = /<([^<>]*)>/.exec(decoded) ?? []
  const found = (bracketed ?? decoded)
    .trim()
    .replace(/^(?:smtp|rfc822|mailto)[:;]/i, "")
    .trim()
  return found.length <= ADDRESS_LENGTH_LIMIT && !CONTROL.test(found) && /^[^\s@<>"][^\s<>]*@[^\s@<>"]+$/.test(found)
    ? found
    : undefined
}

/** A copy of the pattern in `@waybill/domain/values/Text`, which would load Effect into the parsing thread. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/u

/** RFC 6533 §3: `\x{…}` stands for a character that the address or the report could not carry. */
const utf8Address = (value: string): string =>
  value.replace(/\\x\{([0-9A-Fa-f]{1,6})\}/g, (whole, digits: string) => {
    const point = Number.parseInt(digits, 16)
    return point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff) ? String.fromCodePoint(point) : whole
  })

/** RFC 3461 §4: an envelope id is encoded as xtext, `+2B` for "+". */
export const xtext = (value: string | undefined): string | undefined =>
  value?.replace(/\+([0-9A-F]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))

/** Returns `<id@host>` without its angle brackets. */
export const messageId = (fields: Fields): string | undefined => {
  const value = first(fields, "message-id", "x-message-id")
  const [, id] = /<([^<>\s]{1,900})>/.exec(value ?? "") ?? []
  return id ?? (value !== undefined && /^[^\s<>]{1,900}@[^\s<>]+$/.test(value) ? value : undefined)
}

/** Returns the name behind `dns;`, without the prose that Google adds. */
export const host = (value: string | undefined): string | undefined => {
  const name = value
    ?.replace(/^\s*[A-Za-z0-9-]+\s*;/, "")
    .trim()
    .split(/[\s(]/)[0]
    ?.replace(/\.$/, "")
  return name === "" ? undefined : name?.slice(0, HOST_LENGTH_LIMIT)
}

/** Returns a server's text without its type, in one line. */
export const diagnostic = (value: string | undefined): string | undefined => {
  const text = value
    ?.replace(/^\s*(?:smtp|x-[\w-]+|unix|lmtp)\s*;/i, "")
    .replace(/^[\s:]+/, "")
    .replace(/\s+/g, " ")
    .trim()
  return text === undefined || text === "" ? undefined : text.slice(0, DIAGNOSTIC_LENGTH_LIMIT)
}

export const status = (value: string | undefined): string | undefined =>
  /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(value ?? "")?.[0]
