import * as ApiKeySecret from "@waybill/domain/account/ApiKeySecret"
import type { Detail } from "@waybill/domain/values/Refusal"
import * as WebhookType from "@waybill/domain/webhook/WebhookType"
import { nearestName } from "@waybill/domain/values/nearestName"

/** Most known names that an error lists if none is near the unknown one; more than the largest schema of a request has. */
export const MAX_LISTED_NAMES = 25
/** Most characters of an unknown name that an error repeats. */
export const MAX_SHOWN_NAME_CHARS = 64

export type Kind = "field" | "parameter"

/** A field or query parameter of a request that the API does not know: a detail, and the same as a whole sentence. */
export interface UnknownName extends Detail {
  readonly sentence: string
}

interface Advice {
  /** Advice for a name that is near to no known one, in place of a list of these. */
  readonly otherwise?: string | undefined
  /** The name to compare with the known ones; undefined if so many were compared that no more are. */
  readonly compared?: string | undefined
}

/** `parent` is the path of the object with the field; empty for the body or the query. */
export const describe = (
  kind: Kind,
  parent: string,
  name: string,
  known: ReadonlyArray<string>,
  { compared, otherwise }: Advice = { compared: name },
): UnknownName => {
  const shown = printable(name)
  const owner = parent === "" ? (kind === "field" ? "The body" : "The query") : `\`${parent}\``
  const advice = adviceOf(kind, compared, known, otherwise)
  return {
    path: parent === "" ? shown : `${parent}.${shown}`,
    message: `is an unknown ${kind}; ${advice}`,
    sentence: `${owner} has an unknown ${kind} \`${shown}\`; ${advice}`,
  }
}

/**
 * Returns the error of a value that is near to one of the known ones, and repeats it; `undefined` if it is near to none.
 * Types of events are also known by other names.
 */
export const suggest = (value: string, known: ReadonlyArray<string>): string | undefined => {
  const type = known.includes("email.delivered") ? WebhookType.nearestType(value) : undefined
  const nearest = type !== undefined && known.includes(type) ? type : nearestName(value, known)
  return nearest === undefined
    ? undefined
    : `is "${printable(value)}", which is not known; did you mean \`${nearest}\`? Known are ${known.slice(0, MAX_LISTED_NAMES).join(", ")}${known.length > MAX_LISTED_NAMES ? " and others" : ""}`
}

const adviceOf = (
  kind: Kind,
  name: string | undefined,
  known: ReadonlyArray<string>,
  otherwise: string | undefined,
): string => {
  const nearest = name === undefined ? undefined : nearestName(name, known)
  if (nearest !== undefined) return `did you mean \`${nearest}\`?`
  if (otherwise !== undefined) return otherwise
  if (known.length === 0) return kind === "field" ? "none is accepted here" : "this endpoint takes none"
  const listed = known.slice(0, MAX_LISTED_NAMES).join(", ")
  return known.length > MAX_LISTED_NAMES ? `known are ${listed} and others` : `known are ${listed}`
}

/** Shortens a name and replaces what could break a line, because the name may be anything. */
export const printable = (name: string): string =>
  ApiKeySecret.hideIn(name.slice(0, MAX_SHOWN_NAME_CHARS).replaceAll(/[^!-_a-~]/gu, "?"))
