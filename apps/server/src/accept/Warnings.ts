import * as Content from "@waybill/domain/email/Content"

/** The response header `Warning` (RFC 7234 §5.5; 199 is any text), if there is something to warn of. */
export interface Headers {
  readonly warning?: string
}

/** Most messages of a batch that a warning names. */
const MAX_NAMED_MESSAGES = 10

/** Most variables of a template that a warning names. */
const MAX_NAMED_VARIABLES = 10

const NONE: Headers = {}
const warn = (...texts: ReadonlyArray<string>): Headers =>
  texts.length === 0 ? NONE : { warning: texts.map((text) => `199 - "${text}"`).join(", ") }
const WITHOUT_BODY = warn(Content.NO_BODY)

/** Warns of a message that is delivered empty. That is allowed, and rarely meant. */
export const ofMessage = (message: Content.Body): Headers => (Content.hasBody(message) ? NONE : WITHOUT_BODY)

const listed = (items: ReadonlyArray<string | number>, most: number): string =>
  `${items.slice(0, most).join(", ")}${items.length > most ? ` and ${items.length - most} more` : ""}`

/** A header holds printable ASCII, and this one quotes its text. */
const inHeader = (name: string): string => name.replaceAll(/[^\x20-\x7e]|["\\]/gu, "?")

const variables = (names: ReadonlyArray<string>): string =>
  `Variables without a value: ${listed(names.map(inHeader), MAX_NAMED_VARIABLES)}`

/** Warns of the variables that a template has written without a value. */
export const ofVariables = (missing: ReadonlyArray<string>): Headers =>
  missing.length === 0 ? NONE : warn(variables(missing))

const messages = (indexes: ReadonlyArray<number>): string =>
  `${indexes.length === 1 ? "Message" : "Messages"} ${listed(indexes, MAX_NAMED_MESSAGES)}`

/** Warns of the messages of a batch that are delivered empty, by their indexes, and of those with variables without a value. */
export const ofBatch = (
  empty: ReadonlyArray<number>,
  missing: ReadonlyMap<number, ReadonlyArray<string>> = new Map(),
): Headers =>
  warn(
    ...(empty.length === 0 ? [] : [`${messages(empty)} ${empty.length === 1 ? "has" : "have"} no body`]),
    ...(missing.size === 0
      ? []
      : [`${messages([...missing.keys()])}: ${variables([...new Set([...missing.values()].flat())])}`]),
  )

type Stored = Pick<Content.Content, "attachments" | "has_html" | "has_text">

/** Warns of a message whose content is stored. */
export const ofStored = (content: Stored): Headers => (notesOf(content).length === 0 ? NONE : WITHOUT_BODY)

/** Returns what a timeline notes about the acceptance of a message. */
export const notesOf = ({ attachments, has_html, has_text }: Stored): ReadonlyArray<string> =>
  has_html || has_text || attachments.some(({ entity }) => entity) ? [] : [Content.NO_BODY]
