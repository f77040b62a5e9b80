import * as Path from "./Path.ts"
import * as Replies from "./Replies.ts"

/** A parameter as RFC 5321 §4.1.1.11 writes it: a keyword, and perhaps a value. */
const PARAMETER = /^[A-Za-z0-9][A-Za-z0-9-]*(?:=[^\p{Cc}\s=]+)?$/u

/** RFC 4954 §5: `<>` or a mailbox in xtext. */
const AUTH_VALUE = /^AUTH=(?:[!-*,-<>-~]|\+[\dA-F]{2})+$/iu

const XTEXT = String.raw`(?:[!-*,-<>-~]|\+[\dA-F]{2}|[^\p{ASCII}])+`

/** The form of the values, as a regular expression and in words. */
const VALUES: ReadonlyArray<readonly [name: string, value: RegExp, form: string]> = [
  ["AUTH", AUTH_VALUE, "AUTH takes a mailbox in xtext or <> (RFC 4954)"],
  ["RET", /^RET=(?:FULL|HDRS)$/iu, "RET takes FULL or HDRS (RFC 3461)"],
  ["ENVID", new RegExp(`^ENVID=(?=.{1,100}$)${XTEXT}$`, "iu"), "ENVID takes 1 to 100 characters of xtext (RFC 3461)"],
  [
    "NOTIFY",
    /^NOTIFY=(?:NEVER|(?:SUCCESS|FAILURE|DELAY)(?:,(?:SUCCESS|FAILURE|DELAY))*)$/iu,
    "NOTIFY takes NEVER alone, or SUCCESS, FAILURE and DELAY, separated by commas (RFC 3461)",
  ],
  [
    "ORCPT",
    new RegExp(`^ORCPT=(?=.{1,500}$)[\\w!#$%&'*/?^\`{|}~-]+;${XTEXT}$`, "iu"),
    "ORCPT takes a type of address, a semicolon and xtext (RFC 3461)",
  ],
  ["SIZE", /^SIZE=/iu, "Error: SIZE parameter requires a value"],
  ["BODY", /^BODY=/iu, "Error: BODY parameter requires a value"],
]

/** Characters of a parameter that a reply repeats. */
const MAX_SHOWN = 40

const wrong = (words: string): Replies.Reply => Replies.of(501, "5.5.4", words)

const nameOf = (parameter: string): string => parameter.split("=", 1)[0]?.toUpperCase() ?? ""

/**
 * Returns the refusal of parameters that are malformed, given twice, or that the server does not implement: a client would
 * take its wish for granted.
 */
export const check = (
  verb: "MAIL" | "RCPT",
  parameters: ReadonlyArray<string>,
  known: ReadonlyArray<string>,
): Replies.Reply | undefined => {
  const malformed = parameters.find((each) => !PARAMETER.test(each))
  if (malformed !== undefined)
    return wrong(`"${malformed.slice(0, MAX_SHOWN)}" is not a parameter. The form is KEYWORD or KEYWORD=value`)
  const names = parameters.map(nameOf)
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined) {
    const knownOnes = known.length === 0 ? "It takes none" : `Known: ${known.join(", ")}`
    return Replies.of(555, "5.5.4", `${unknown.slice(0, MAX_SHOWN)} is not a known parameter of ${verb}. ${knownOnes}`)
  }
  const repeated = names.find((name, nth) => names.indexOf(name) !== nth)
  if (repeated !== undefined) return wrong(`Error: duplicate ${repeated} parameter`)
  const rule = VALUES.find(
    ([name, value]) => names.includes(name) && !value.test(parameters[names.indexOf(name)] ?? ""),
  )
  return rule === undefined ? undefined : wrong(rule[2])
}

/** Returns the size that a client declares for its message, or the refusal of what it says of the message. */
export const readMail = (parameters: ReadonlyArray<string>, maxBytes: number): number | undefined | Replies.Reply => {
  const given = new Map(parameters.map((each) => [nameOf(each), Path.valueOf(each)]))
  const size = given.get("SIZE")
  if (size !== undefined && !/^\d{1,20}$/u.test(size)) return wrong("Error: Bad message size syntax")
  if (Number(size) > maxBytes) return tooLarge(maxBytes)
  const body = given.get("BODY")
  if (body !== undefined && !/^(?:7BIT|8BITMIME)$/iu.test(body))
    return wrong("Invalid BODY parameter value. Must be 7BIT or 8BITMIME")
  if (given.get("SMTPUTF8")) return wrong("Invalid SMTPUTF8 parameter. This flag does not accept a value")
  return size === undefined ? undefined : Number(size)
}

export const tooLarge = (maxBytes: number): Replies.Reply =>
  Replies.of(552, "5.3.4", `Error: message exceeds fixed maximum message size ${maxBytes}`)
