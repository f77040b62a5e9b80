import { reply, type SmtpReply } from "./SmtpReply.ts"

/** A parameter as RFC 5321 §4.1.1.11 writes it: a keyword, and perhaps a value. */
const PARAMETER = /^[A-Za-z0-9][A-Za-z0-9-]*(?:=[^\p{Cc}\s=]+)?$/u

/** RFC 4954 §5: `<>` or a mailbox in xtext. */
const AUTH_VALUE = /^AUTH=(?:<>|[!-*,-<>-~]|\+[\dA-F]{2})+$/iu

/** Parameters of the DSN extension (RFC 3461), which some clients send although it is not offered. */
const OF_DSN: ReadonlySet<string> = new Set(["NOTIFY", "ORCPT", "RET", "ENVID"])

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
  if (unknown !== undefined) return refuse(verb.toUpperCase(), unknown.slice(0, MAX_SHOWN), known)
  const auth = parameters.find((each) => /^AUTH(?:=|$)/iu.test(each))
  return auth === undefined || AUTH_VALUE.test(auth)
    ? undefined
    : reply(501, "5.5.4", "AUTH takes a mailbox in xtext or <> (RFC 4954)")
}

/** Characters of a parameter that a reply repeats. */
const MAX_SHOWN = 40

const refuse = (verb: string, name: string, known: ReadonlyArray<string>): SmtpReply =>
  OF_DSN.has(name)
    ? reply(
        555,
        "5.5.4",
        `${name} is not supported: the DSN extension is not offered. The log and webhooks show outcomes`,
      )
    : reply(
        555,
        "5.5.4",
        `${name} is not a known parameter of ${verb}. ${known.length === 0 ? "It takes none" : `Known: ${known.join(", ")}`}`,
      )
