import { Result, Schema } from "effect"
import * as Text from "./Text.ts"

/** RFC 1035 §2.3.4, without the trailing dot. */
export const MAX_DOMAIN_OCTETS = 253
const MAX_LABEL_OCTETS = 63
/** Longer than any valid name before encoding. Keeps hostile input away from the IDNA tables. */
const MAX_INPUT_CHARS = 1000

/** Pattern of one label, without anchors. */
export const LABEL = `[a-z0-9](?:[a-z0-9-]{0,${MAX_LABEL_OCTETS - 2}}[a-z0-9])?`
/** At least two labels, the last not a number in any notation, so that an IP address is not a name. */
const NAME = new RegExp(`^(?:${LABEL}\\.)+(?!(?:[0-9]+|0x[0-9a-f]*)$)${LABEL}$`, "u")

/** A host name as used in DNS and SMTP: lower case, IDNA-encoded, no trailing dot. */
export const DomainName = Schema.String.check(
  Schema.isPattern(NAME, { message: "must be a domain name such as mail.example.org" }),
  Schema.isMaxLength(MAX_DOMAIN_OCTETS),
)
  .pipe(Schema.brand("DomainName"))
  .annotate({ identifier: "DomainName" })
export type DomainName = typeof DomainName.Type

// Keeps characters that the URL parser treats as syntax (":", "/", "@", "%", spaces) away from it. The joiners come
// first; some scripts need them, and IDNA itself decides where they are valid.
const UNICODE_NAME = /^[\u200c\u200d\p{L}\p{N}\p{M}\u00b7\u0375\u05f3\u05f4\u30fb.\u3002\uff0e\uff61-]+$/u
const ASCII_NAME = /^[a-z0-9.-]+$/u

export const parse = (text: string): Result.Result<DomainName, string> => {
  const name = parseName(text)
  if (Result.isSuccess(name) || text.length > MAX_INPUT_CHARS) return name
  const inner = INNER.exec(text)?.groups?.["name"]
  if (inner === undefined || inner === text) return name
  const meant = parseName(inner)
  return Result.isFailure(meant) ? name : Result.fail(`is not a domain name; did you mean \`${meant.success}\`?`)
}

/** The host in a URL or an address that was given in place of a domain name. */
const INNER = /^(?:[a-z]{1,10}:)?(?:\/\/)?(?:[^@/?#]*@)?(?:\*\.)?(?<name>[^@/?#:*]+)(?::\d*)?(?:[/?#].*)?$/iu

const parseName = (text: string): Result.Result<DomainName, string> => {
  if (text.length > MAX_INPUT_CHARS) return Result.fail(`is over ${MAX_DOMAIN_OCTETS} octets`)
  const lower = text.toLowerCase()
  const plain = ASCII_NAME.test(lower) && !lower.includes("xn--")
  const name = plain ? lower : idna(lower)
  if (name === undefined) return Result.fail("is not a domain name")
  if (name.length > MAX_DOMAIN_OCTETS)
    return Result.fail(`is ${name.length} octets; a domain name has at most ${MAX_DOMAIN_OCTETS}`)
  if (NAME.test(name)) return Result.succeed(name as DomainName)
  return Result.fail(
    name.includes(".") ? "is not a domain name" : "must be a domain name with at least two labels, such as example.org",
  )
}

/** Applies IDNA through the URL parser, the one implementation that Node and browsers share. */
const idna = (name: string): string | undefined => {
  if (!UNICODE_NAME.test(name)) return undefined
  const url = URL.parse(`http://${name}`)
  if (url === null || url.pathname !== "/" || url.port !== "") return undefined
  return url.hostname
}

/** Responses show the encoded form, such as `xn--bcher-kva.example`; clients may decode it for display. */
export const FromText = Text.parsed(
  DomainName,
  { description: "A domain name; lower-cased and IDNA-encoded", examples: ["mail.example.org"] },
  parse,
  (name) => name,
)

/** RFC 2606 and RFC 6761: nobody can publish records under these names, so their mail is always captured. */
const RESERVED = ["test", "example", "invalid", "localhost", "example.com", "example.net", "example.org"]

export const isReserved = (name: string): boolean =>
  RESERVED.some((reserved) => name === reserved || name.endsWith(`.${reserved}`))
