import { reply, type SmtpReply } from "./SmtpReply.ts"

/** A parameter as RFC 5321 §4.1.1.11 writes it: a keyword, and perhaps a value. */
const PARAMETER = /^[A-Za-z0-9][A-Za-z0-9-]*(?:=[^\p{Cc}\s=]+)?$/u

/** RFC 4954 §5: `<>` or a mailbox in xtext. */
const AUTH_VALUE = /^AUTH=(?:<>|[!-*,-<>-~]|\+[\dA-F]{2})+$/iu

const XTEXT = String.raw`(?:[!-*,-<>-~]|\+[\dA-F]{2}|[^\p{ASCII}])+`

/** The form of the values, as a regular expression and in words. */
const VALUES: ReadonlyArray<readonly [name: string, value: RegExp, form: string]> = [
  ["AUTH", AUTH_VALUE, "a mailbox in xtext or <> (RFC 4954)"],
  ["RET", /^RET=(?:FULL|HDRS)$/iu, "FULL or HDRS (RFC 3461)"],
  ["ENVID", new RegExp(`^ENVID=(?=.{1,100}$)${XTEXT}$`, "iu"), "1 to 100 characters of xtext (RFC 3461)"],
  [
    "NOTIFY",
    /^NOTIFY=(?:NEVER|(?:SUCCESS|FAILURE|DELAY)(?:,(?:SUCCESS|FAILURE|DELAY))*)$/iu,
    "NEVER alone, or SUCCESS, FAILURE and DELAY, separated by commas (RFC 3461)",
  ],
  [
    "ORCPT",
    new RegExp(`^ORCPT=(?=.{1,500}$)[\\w!#$%&'*/?^\`{|}~-]+;${XTEXT}$`, "iu"),
    "a type of address, a semicolon and xtext (RFC 3461)",
  ],
]

/**
 * Returns the refusal of a MAIL or RCPT command with a parameter that the server does not implement. The library
 * ignores such parameters, and the client would take its wish for granted.
 */
export const checkParameters = (command: string, known: ReadonlyArray<string>): SmtpReply | undefined => {
  const [verb = ""] = command.trim().split(" ", 1)
  const [, ...parameters] = command
    .slice(command.indexOf(":") + 1)
    .trim()
    .split(/\s+/u)
  const wrong = parameters.find((each) => !PARAMETER.test(each))
  if (wrong !== undefined)
    return reply(
      501,
      "5.5.4",
      `"${wrong.slice(0, MAX_SHOWN)}" is not a parameter. The form is KEYWORD or KEYWORD=value`,
    )
  const names = parameters.map((each) => each.split("=", 1)[0]?.toUpperCase() ?? "")
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined)
    return reply(
      555,
      "5.5.4",
      `${unknown.slice(0, MAX_SHOWN)} is not a known parameter of ${verb.toUpperCase()}. ${known.length === 0 ? "It takes none" : `Known: ${known.join(", ")}`}`,
    )
  for (const [nth, name] of names.entries()) {
    const rule = VALUES.find(([each]) => each === name)
    if (rule !== undefined && !rule[1].test(parameters[nth] ?? ""))
      return reply(501, "5.5.4", `${name} takes ${rule[2]}`)
  }
  return undefined
}

/** Characters of a parameter that a reply repeats. */
const MAX_SHOWN = 40
