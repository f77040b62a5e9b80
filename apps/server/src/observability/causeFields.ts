import type { Cause } from "effect"

/** Maximum number of causes that are followed from an error. */
const MAX_DEPTH = 5

export interface CauseFields {
  /** Code of the innermost error that has one, such as an SQLSTATE or `ECONNREFUSED`; otherwise the kind of error. */
  readonly code: string
  /** Messages of the errors and of their causes, on one line. */
  readonly message: string
}

/** Returns the fields with which errors are logged: no stack, and none of their own fields, which may hold anything. */
export const causeFields = (
  cause: Cause.Cause<unknown>,
  errors: ReadonlyArray<unknown> = [],
): CauseFields | undefined => {
  const thrown = cause.reasons.flatMap((reason) =>
    reason._tag === "Fail" ? [reason.error] : reason._tag === "Die" ? [reason.defect] : [],
  )
  const chains = [...errors, ...thrown].map(chainOf)
  const [outermost] = chains[0] ?? []
  if (outermost === undefined)
    return cause.reasons.length === 0 ? undefined : { code: "Interrupted", message: "interrupted" }
  const messages = chains.map((chain) => [...new Set(chain.map(messageOf))].join(": "))
  return {
    code:
      chains.flatMap((chain) => chain.toReversed()).reduce<string | undefined>(firstCode, undefined) ??
      kindOf(outermost),
    message: [...new Set(messages)].join("; ").replaceAll(/\s*[\r\n]\s*/gu, " "),
  }
}

/** Returns an error and its causes, the outermost first. */
const chainOf = (error: unknown): ReadonlyArray<unknown> => {
  const chain: Array<unknown> = []
  for (
    let each: unknown = error;
    each !== undefined && each !== null && chain.length < MAX_DEPTH;
    each = fieldOf(each, "cause")
  )
    chain.push(each)
  return chain
}

const firstCode = (code: string | undefined, error: unknown): string | undefined => {
  const own = fieldOf(error, "code")
  return code ?? (typeof own === "string" ? own : undefined)
}

const fieldOf = (error: unknown, name: string): unknown =>
  typeof error === "object" && error !== null ? (error as Readonly<Record<string, unknown>>)[name] : undefined

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message || kindOf(error) : typeof error === "string" ? error : kindOf(error)

const kindOf = (error: unknown): string => {
  const tag = fieldOf(error, "_tag")
  return typeof tag === "string" ? tag : error instanceof Error ? error.name : typeof error
}
