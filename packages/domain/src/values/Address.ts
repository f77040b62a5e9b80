import { Result, Schema } from "effect"
import * as DomainName from "./DomainName.ts"
import * as Text from "./Text.ts"

/** RFC 5321 §4.5.3.1, counted in UTF-8 (RFC 6531). */
export const MAX_LOCAL_OCTETS = 64
export const MAX_ADDRESS_OCTETS = 254
/** Maximum length of a display name. Longer ones are attacks on header parsing. */
export const MAX_NAME_CHARS = 256
/** Maximum length of a mailbox, checked before any other parsing. */
export const MAX_MAILBOX_CHARS = 1000

/**
 * Accepts the same with the `u` flag and without, because validators of the OpenAPI document use either. Has no `\u`
 * escape, because @hey-api/openapi-ts writes such a character into its source as it is.
 */
// oxlint-disable-next-line no-control-regex
const SHAPE = /^[^\x00-\x20"(),:-<>@[-\]\x7f-\xa0]+@[a-z0-9][a-z0-9.-]*[a-z0-9]$/u

/**
 * `local@domain`: the domain in lower case and IDNA-encoded, the local part as written (NFC). The schema checks the
 * shape only, because events are decoded in bulk; `parse` enforces the grammar.
 */
export const Address = Schema.String.check(
  Schema.isMaxLength(MAX_ADDRESS_OCTETS),
  Schema.isPattern(SHAPE, { message: "must be an address such as ana@example.org" }),
  Schema.makeFilter<string>((address) => Text.isWellFormed(address) || "must not contain an unpaired surrogate"),
)
  .pipe(Schema.brand("Address"))
  .annotate({ identifier: "Address" })
export type Address = typeof Address.Type

/** A parsed mailbox, as stored in events. */
export const MailboxObject = Schema.Struct({ address: Address, name: Schema.optionalKey(Text.Stored) })
export type Mailbox = typeof MailboxObject.Type

const ASCII_ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
const PLAIN = new RegExp(
  `^${ASCII_ATOM}(?:\\.${ASCII_ATOM})*@(?:${DomainName.LABEL}\\.)+(?![0-9])${DomainName.LABEL}$`,
  "u",
)

/** Whether a text is an address that `parse` returns as it is. Most are, and the full grammar takes four times as long. */
const isPlain = (text: string): text is Address =>
  text.length <= MAX_ADDRESS_OCTETS &&
  text.indexOf("@") <= MAX_LOCAL_OCTETS &&
  PLAIN.test(text) &&
  // IDNA checks encoded labels.
  !text.includes("xn--")

/**
 * Parses one mailbox, `a@b.c` or `Name <a@b.c>`. Deliberately narrower than RFC 5322: no groups, comments, source
 * routes or address literals, and no quoted local part but for its dots. Each of those has made two parsers disagree
 * about who receives a message.
 */
export const parse = (text: string): Result.Result<Mailbox, string> => {
  if (isPlain(text)) return Result.succeed({ address: text })
  const mailbox = parseMailbox(text)
  return Result.isFailure(mailbox) && isList(text) ? Result.fail("has several addresses; one is accepted") : mailbox
}

/** Whether a text that is no mailbox looks like several of them, with commas or semicolons between. */
export const isList = (text: string): boolean => LIST.test(text.slice(0, MAX_MAILBOX_CHARS))

/** An address, a separator, and then another address or the end. */
const LIST = /@[^@,;]*[,;](?:\s*$|[^@,;]*@)/u

const parseMailbox = (text: string): Result.Result<Mailbox, string> => {
  if (text.length > MAX_MAILBOX_CHARS)
    return Result.fail(`is ${text.length} characters; at most ${MAX_MAILBOX_CHARS} are allowed`)
  if (Text.hasControl(text)) return Result.fail("must not contain line breaks or other control characters")
  if (!Text.isWellFormed(text)) return Result.fail("is not well-formed Unicode")
  const trimmed = text.trim()
  if (!trimmed.endsWith(">")) return Result.map(parseAddress(trimmed), (address) => ({ address }))
  const open = trimmed.lastIndexOf("<")
  if (open < 0) return Result.fail("has a > without a matching <")
  const name = parseName(trimmed.slice(0, open).trim())
  if (Result.isFailure(name)) return Result.fail(name.failure)
  return Result.map(parseAddress(trimmed.slice(open + 1, -1)), (address) =>
    name.success === "" ? { address } : { address, name: name.success },
  )
}

/** RFC 5322 atext, plus any non-ASCII character except spaces and invisible ones (RFC 6531 §3.3); and dots. */
const ATOMS = /^(?:[a-z0-9!#$%&'*+/=?^_`{|}~.-]|[^\p{ASCII}\p{C}\p{Z}])+$/iu
const MISPLACED_DOT = /^\.|\.$|\.\./u

/**
 * Quotes the local part of an address that is held without quotes, if its dots need them (RFC 5321 §4.1.2). Carriers in
 * Japan have given such addresses.
 */
export const quote = (address: string): string =>
  address.replace(/^(?=\.|[^"@]*\.[.@])[^"@]+(?=@)/u, (local) => `"${local}"`)

/** Parses an address that is held, read from a mail or searched for, whose dots may lack their quotes. */
export const parseHeld = (text: string): Result.Result<Address, string> => parseAddress(quote(text))

export const parseAddress = (text: string): Result.Result<Address, string> => {
  if (isPlain(text)) return Result.succeed(text)
  const at = text.lastIndexOf("@")
  if (at < 0) return Result.fail("is not an address: it has no @")
  const written = text.slice(0, at).normalize("NFC")
  const quoted = /^"(.*)"$/u.exec(written)?.[1]
  const local = quoted ?? written
  if (local === "") return Result.fail("is not an address: the part before the @ is empty")
  if (written.startsWith('"') && (quoted === undefined || !ATOMS.test(quoted)))
    return Result.fail("has a quoted local part, which is accepted only for its dots")
  const size = Text.octets(written)
  if (size > MAX_LOCAL_OCTETS)
    return Result.fail(`has ${size} octets before the @; at most ${MAX_LOCAL_OCTETS} are allowed`)
  if (local.includes("@")) return Result.fail("is not an address: it has more than one @")
  if (/\s/u.test(local))
    return Result.fail("is not an address: a name goes before an address in < >, as in Ana <ana@example.org>")
  if (!ATOMS.test(local))
    return Result.fail("is not an address: the part before the @ has a character that is not allowed there")
  if (quoted === undefined && MISPLACED_DOT.test(local))
    return Result.fail(
      'is not an address: the part before the @ has a dot at an end or two in a row; if it is so, quote it: "a..b"@example.org',
    )
  const domain = DomainName.parse(text.slice(at + 1))
  if (Result.isFailure(domain)) return Result.fail(`is not an address: the part after the @ ${domain.failure}`)
  const total = size + 1 + domain.success.length
  if (total > MAX_ADDRESS_OCTETS) return Result.fail(`is ${total} octets; an address has at most ${MAX_ADDRESS_OCTETS}`)
  return Result.succeed(`${local}@${domain.success}` as Address)
}

const QUOTED = /^"((?:[^"\\]|\\.)*)"$/u

const parseName = (text: string): Result.Result<string, string> => {
  const quoted = QUOTED.exec(text)
  const name = quoted === null ? text : (quoted[1] ?? "").replaceAll(/\\(.)/gu, "$1").trim()
  if (name.length > MAX_NAME_CHARS)
    return Result.fail(`has a name of ${name.length} characters; at most ${MAX_NAME_CHARS} are allowed`)
  // A comma, a semicolon or an @ outside quotes usually means that the client passed a list.
  if (quoted === null && /["<>,;@\\]/u.test(name))
    return Result.fail('has a name with one of " < > , ; @ \\ that must be quoted')
  return Result.succeed(name)
}

const NEEDS_QUOTES = /[()<>[\]:;@\\,."]/u

/** Formats a mailbox so that `parse` returns the same mailbox. */
export const format = (mailbox: Mailbox): string => {
  const address = quote(mailbox.address)
  if (mailbox.name === undefined) return address
  const name = NEEDS_QUOTES.test(mailbox.name) ? `"${mailbox.name.replaceAll(/["\\]/gu, "\\$&")}"` : mailbox.name
  return `${name} <${address}>`
}

/** A mailbox in a request or response: text on the wire, parsed in memory. */
export const Mailbox = Text.parsed(
  MailboxObject,
  {
    description:
      "`ana@example.org` or `Ana <ana@example.org>`; internationalised domains and UTF-8 local parts are accepted",
    examples: ["Acme <hello@acme.test>", "ana@example.org"],
  },
  parse,
  format,
)

/** A bare address in a path or a body, without a display name. */
export const FromText = Text.parsed(
  Address,
  { description: "`ana@example.org`", examples: ["ana@example.org"] },
  (text) => (Text.hasControl(text) ? Result.fail("must not contain control characters") : parseHeld(text.trim())),
  quote,
)

export const domainOf = (address: Address): DomainName.DomainName =>
  address.slice(address.lastIndexOf("@") + 1) as DomainName.DomainName

export const localOf = (address: Address): string => address.slice(0, address.lastIndexOf("@"))

/**
 * Returns the key by which addresses are compared: two addresses with the same key are one recipient and one
 * suppression. RFC 5321 leaves the case of a local part to its host, but no relevant host distinguishes `Ana` from
 * `ana`; treating them as two would send duplicates and let a suppressed address through. The wire keeps the case as
 * written.
 */
export const keyOf = (address: Address): Address => address.toLowerCase() as Address

/** Returns the key of an address that a header names, whose domain may be in Unicode; any other text in lower case. */
export const keyOfText = (text: string): string =>
  Result.match(parseHeld(text), { onFailure: () => text.toLowerCase(), onSuccess: keyOf })
