import * as Content from "@waybill/domain/email/Content"
import type { Command } from "@waybill/domain/email/Acceptance"

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

const listed = (items: ReadonlyArray<string | number>, most: number): string =>
  `${items.slice(0, most).join(", ")}${items.length > most ? ` and ${items.length - most} more` : ""}`

const variables = (names: ReadonlyArray<string>): string =>
  `Variables without a value: ${listed(names, MAX_NAMED_VARIABLES)}`

const messages = (indexes: ReadonlyArray<number>): string =>
  `${indexes.length === 1 ? "Message" : "Messages"} ${listed(indexes, MAX_NAMED_MESSAGES)}`

type Accepted = Pick<Command, "content" | "template">

/** Warns of the messages of a batch that are delivered empty, by their indexes, and of those with variables without a value. */
export const ofBatch = (accepted: ReadonlyArray<readonly [index: number, message: Accepted]>): Headers => {
  const empty = accepted.flatMap(([index, { content }]) => (hasBody(content) ? [] : [index]))
  const missing = accepted.flatMap(([index, { template }]) =>
    template?.missing === undefined ? [] : [[index, template.missing] as const],
  )
  const names = new Set(missing.flatMap(([, each]) => each))
  return warn(
    ...(empty.length === 0 ? [] : [`${messages(empty)} ${empty.length === 1 ? "has" : "have"} no body`]),
    ...(missing.length === 0 ? [] : [`${messages(missing.map(([index]) => index))}: ${variables([...names])}`]),
  )
}

/** Warns of a message that is delivered empty, or with variables without a value. That is allowed, and rarely meant. */
export const ofMessage = (accepted: Accepted | undefined): Headers => warn(...notesOf(accepted))

/** Returns what a timeline notes about the acceptance of a message. */
export const notesOf = (accepted: Accepted | undefined): ReadonlyArray<string> =>
  accepted === undefined
    ? []
    : [
        ...(hasBody(accepted.content) ? [] : [Content.NO_BODY]),
        ...(accepted.template?.missing === undefined ? [] : [variables(accepted.template.missing)]),
      ]

const hasBody = ({ attachments, has_html, has_text }: Content.Content): boolean =>
  has_html || has_text || attachments.some(({ entity }) => entity)
