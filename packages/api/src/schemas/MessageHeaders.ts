import * as Address from "@waybill/domain/values/Address"
import * as Header from "@waybill/domain/email/Header"
import * as Id from "@waybill/domain/values/Id"
import * as Script from "@waybill/domain/email/Script"
import { Result, Schema, SchemaIssue } from "effect"
import * as Counts from "../errors/Counts.ts"
import * as Checks from "./Checks.ts"

/** Headers that may occur once. A second one in different case is refused. */
export const SINGLE: ReadonlySet<string> = new Set([...Header.SINGLE, Header.TEST_CLOCK, Script.HEADER])

type Problem = { readonly path: ReadonlyArray<PropertyKey>; readonly issue: string }

const problems = (headers: { readonly [name: string]: string }): ReadonlyArray<Problem> => {
  const result: Array<Problem> = []
  const names = Object.keys(headers)
  if (names.length > Header.MAX_HEADERS) result.push({ path: [], issue: tooMany(names.length) })
  const seen: Array<string> = []
  for (const name of names) {
    const lower = name.toLowerCase()
    const issue =
      nameProblem(name, lower) ??
      valueProblem(headers[name] ?? "") ??
      (lower === Header.TEST_CLOCK && !isClock(headers[name]) ? "must be the id of a test clock, clk_…" : undefined) ??
      (lower === Script.HEADER ? scriptProblem(headers[name] ?? "") : undefined) ??
      (lower === Header.SENDER ? senderProblem(headers[name] ?? "") : undefined) ??
      (seen.includes(lower) ? "is set twice" : undefined)
    if (issue !== undefined) result.push({ path: [Header.shownName(name)], issue })
    // Each name once, or many spellings of one would make each further look long.
    if (SINGLE.has(lower) && !seen.includes(lower)) seen.push(lower)
  }
  return result
}

const tooMany = (actual: number): string => Checks.counted(0, Header.MAX_HEADERS, "headers", actual)

const isClock = Schema.is(Id.TestClockId)

const nameProblem = (name: string, lower: string): string | undefined => {
  if (name.length > Header.MAX_NAME_CHARS)
    return `is a name of ${name.length} characters; at most ${Header.MAX_NAME_CHARS} are allowed`
  if (!Header.isName(name)) {
    const broken = Checks.problem(name)
    if (broken !== undefined) return `is a name that ${broken}`
    return "is not a header name: printable ASCII without spaces and colons"
  }
  if (Header.isServiceHeader(lower)) return "is set by the service and cannot be overridden"
  return Header.isReservedHeader(lower) ? "is reserved for mail servers and cannot be set" : undefined
}

const scriptProblem = (value: string): string | undefined => {
  const parsed = Script.parse(value)
  return Result.isFailure(parsed) ? parsed.failure : undefined
}

/** Checks that the value is an address like From, because its domain must be verified. */
const senderProblem = (value: string): string | undefined => {
  const parsed = Address.parse(value)
  return Result.isFailure(parsed) ? parsed.failure : undefined
}

const valueProblem = (value: string): string | undefined => {
  if (value.length > Header.MAX_HEADER_VALUE_CHARS)
    return `is ${value.length} characters; at most ${Header.MAX_HEADER_VALUE_CHARS} are allowed`
  const broken = Checks.problem(value)
  if (broken !== undefined) return broken
  const octets = Header.tooLongRun(value.trim())
  return octets === undefined
    ? undefined
    : `has ${octets} octets without a space; at most ${Header.MAX_UNBROKEN_OCTETS} are allowed`
}

export const MessageHeaders = Schema.Record(Schema.String, Schema.String)
  .check(
    Schema.makeFilter<{ readonly [name: string]: string }>(
      (headers) => {
        const list = problems(headers)
        return list.length === 0
          ? undefined
          : list.map(
              ({ path, issue }) => new SchemaIssue.Pointer(path, new SchemaIssue.InvalidValue({ message: issue })),
            )
      },
      {
        ...Counts.annotation({ maximum: Header.MAX_HEADERS, message: tooMany }),
        toJsonSchema: () => ({ maxProperties: Header.MAX_HEADERS }),
      },
    ),
  )
  .annotate({
    description: `Custom headers. Headers that this service or other mail servers write are refused: ${Header.FORBIDDEN_DESCRIPTION}. So are headers that mail providers obey, such as X-SMTPAPI, X-SES-*, X-MSYS-*, X-MC-*, X-Mailgun-* and X-PM-*, unless your operator allows them. \`Sender\` must be one address of a verified domain.`,
    examples: [{ "X-Order": "7041", "List-Id": "receipts.acme.test" }],
  })
