import * as Content from "@waybill/domain/email/Content"
import type * as EmailEvent from "@waybill/domain/email/EmailEvent"

/** The response header `Warning` (RFC 7234 §5.5; 199 is any text), if there is something to warn of. */
export interface Headers {
  readonly warning?: string
}

/** Most messages of a batch that a warning names. */
const MAX_NAMED_MESSAGES = 10

/** Most variables of a template that a warning names. */
const MAX_NAMED_VARIABLES = 10

/** A header holds printable ASCII, and this one quotes its text. */
const inHeader = (text: string): string => text.replaceAll(/[^\x20-\x7e]|["\\]/gu, "?")

const NONE: Headers = {}
const warn = (...texts: ReadonlyArray<string>): Headers =>
  texts.length === 0 ? NONE : { warning: texts.map((text) => `199 - "${inHeader(text)}"`).join(", ") }
const WITHOUT_BODY = warn(Content.NO_BODY)

/** Warns of a message that is delivered empty. That is allowed, and rarely meant. */
export const ofMessage = (message: Content.Body): Headers => (Content.hasBody(message) ? NONE : WITHOUT_BODY)

const listed = (items: ReadonlyArray<string | number>, most: number): string =>
  `${items.slice(0, most).join(", ")}${items.length > most ? ` and ${items.length - most} more` : ""}`

export const variables = (names: ReadonlyArray<string>): string =>
  `Variables without a value: ${listed(names, MAX_NAMED_VARIABLES)}`

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

type Accepted = Pick<EmailEvent.EmailQueued, "content" | "template">

/** Warns of a message that was accepted before. */
export const ofAccepted = (accepted: Accepted): Headers => warn(...notesOf(accepted))

/** Returns what a timeline notes about the acceptance of a message. */
export const notesOf = ({ content, template }: Accepted): ReadonlyArray<string> => [
  ...(hasBody(content) ? [] : [Content.NO_BODY]),
  ...(template?.missing === undefined ? [] : [variables(template.missing)]),
]

const hasBody = ({ attachments, has_html, has_text }: Content.Content): boolean =>
  has_html || has_text || attachments.some(({ entity }) => entity)
