import * as Content from "@waybill/domain/email/Content"

/** The response header `Warning` (RFC 7234 §5.5; 199 is any text), if there is something to warn of. */
export interface Headers {
  readonly warning?: string
}

/** Most messages of a batch that a warning names. */
const MAX_NAMED_MESSAGES = 10

const NONE: Headers = {}
const warn = (text: string): Headers => ({ warning: `199 - "${text}"` })
const WITHOUT_BODY = warn(Content.NO_BODY)

/** Warns of a message that is delivered empty. That is allowed, and rarely meant. */
export const ofMessage = (message: Content.Body): Headers => (Content.hasBody(message) ? NONE : WITHOUT_BODY)

/** Warns of the messages of a batch that are delivered empty; `empty` are their indexes. */
export const ofBatch = (empty: ReadonlyArray<number>): Headers => {
  if (empty.length === 0) return NONE
  const named = empty.slice(0, MAX_NAMED_MESSAGES).join(", ")
  const more = empty.length > MAX_NAMED_MESSAGES ? ` and ${empty.length - MAX_NAMED_MESSAGES} more` : ""
  return warn(empty.length === 1 ? `Message ${named} has no body` : `Messages ${named}${more} have no body`)
}

type Stored = Pick<Content.Content, "attachments" | "has_html" | "has_text">

/** Warns of a message whose content is stored. */
export const ofStored = (content: Stored): Headers => (notesOf(content).length === 0 ? NONE : WITHOUT_BODY)

/** Returns what a timeline notes about the acceptance of a message. */
export const notesOf = ({ attachments, has_html, has_text }: Stored): ReadonlyArray<string> =>
  has_html || has_text || attachments.some(({ entity }) => entity) ? [] : [Content.NO_BODY]
