import type { Detail } from "@waybill/domain/values/Refusal"
import type { Field } from "@waybill/mail/report/SubmittedMessage"
import { Result } from "effect"
import * as BodyScan from "../requests/BodyScan.ts"

/** Maximum characters of the header with variables, in JSON or in base64. */
export const MAX_VARIABLES_HEADER_CHARS = 64 * 1024

const TEMPLATE = "x-waybill-template"
const VARIABLES = "x-waybill-variables"

export interface TemplateHeaders {
  /** The field `template` of the API, not decoded yet; absent if the message names none. */
  readonly template?: unknown
  readonly problems: ReadonlyArray<Detail>
}

const problem = (path: string, message: string): TemplateHeaders => ({ problems: [{ path, message }] })

/** Reads which template a message is made of, and its variables. */
export const read = (headers: ReadonlyArray<Field>): TemplateHeaders => {
  const valuesOf = (wanted: string) =>
    headers.filter(({ name }) => name.toLowerCase() === wanted).map(({ value }) => value)
  const [template, ...templates] = valuesOf(TEMPLATE)
  const [variables, ...others] = valuesOf(VARIABLES)
  if (templates.length > 0) return problem("X-Waybill-Template", "must appear only once")
  if (others.length > 0) return problem("X-Waybill-Variables", "must appear only once")
  if (template === undefined)
    return variables === undefined ? { problems: [] } : problem("X-Waybill-Template", "is required with variables")
  const choice = choiceOf(template)
  if (Result.isFailure(choice)) return problem("X-Waybill-Template", choice.failure)
  const read = variables === undefined ? Result.succeed({}) : variablesOf(variables)
  return Result.isFailure(read)
    ? problem("X-Waybill-Variables", read.failure)
    : { template: { ...choice.success, variables: read.success }, problems: [] }
}

const PARAMETERS: ReadonlySet<string> = new Set(["version", "locale", "time_zone"])
const MAX_CHOICE_CHARS = 500

/** Reads `receipt; version=3; locale=pt-BR; time_zone=Europe/Lisbon`. */
const choiceOf = (value: string): Result.Result<Record<string, unknown>, string> => {
  if (value.length > MAX_CHOICE_CHARS) return Result.fail(`has more than ${MAX_CHOICE_CHARS} characters`)
  const [name = "", ...parameters] = value.split(";").map((part) => part.trim())
  const choice: Record<string, unknown> = { id: name }
  for (const parameter of parameters) {
    if (parameter === "") continue
    const [, key = "", text = ""] = /^(\w+)\s*=\s*"?([^"]*)"?$/u.exec(parameter) ?? []
    if (!PARAMETERS.has(key) || Object.hasOwn(choice, key))
      return Result.fail(
        "takes `version`, `locale` and `time_zone` after the name, each once, as in receipt; locale=de",
      )
    choice[key] = key === "version" && /^\d{1,9}$/u.test(text) ? Number(text) : text
  }
  return Result.succeed(choice)
}

/** JSON begins with a brace, which base64 does not have. A header of bytes beyond ASCII is written in base64. */
const variablesOf = (value: string): Result.Result<unknown, string> => {
  if (value.length > MAX_VARIABLES_HEADER_CHARS)
    return Result.fail(`has more than ${MAX_VARIABLES_HEADER_CHARS} characters`)
  const text = value.trim()
  const json = text.startsWith("{") ? Buffer.from(text) : Buffer.from(text.replaceAll(/\s+/gu, ""), "base64")
  const { problem } = BodyScan.scan(json)
  if (problem !== undefined) return Result.fail(problem.message)
  return Result.try({
    try: () => JSON.parse(json.toString("utf8")) as unknown,
    catch: () => "must be an object in JSON, or that in base64",
  })
}
