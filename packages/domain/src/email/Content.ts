import { Schema } from "effect"
import { Sha256 } from "../values/Sha256.ts"
import * as Text from "../values/Text.ts"

export const MAX_ATTACHMENTS = 20

/** The metadata of an attachment that events hold. The bytes are in the content table. */
export const Attachment = Schema.Struct({
  filename: Text.Stored,
  content_type: Text.Stored,
  size_bytes: Schema.Natural,
  content_id: Schema.NullOr(Text.Stored),
  sha256: Sha256,
  /** Whether it is another form of the text, as a meeting invitation over SMTP can be, and no file. */
  alternative: Schema.optionalKey(Schema.Literal(true)),
  /** Whether it is the message itself, signed or encrypted as a whole, which is sent byte for byte. */
  entity: Schema.optionalKey(Schema.Literal(true)),
})
export type Attachment = typeof Attachment.Type

/**
 * Refers to the message body, which the content table holds under this hash for as long as the account keeps content.
 */
export const Content = Schema.Struct({
  sha256: Sha256,
  has_html: Schema.Boolean,
  has_text: Schema.Boolean,
  attachments: Schema.Array(Attachment),
})
export type Content = typeof Content.Type

/** The parts of a message that its recipients read. */
export interface Body {
  readonly html?: string | null | undefined
  readonly text?: string | null | undefined
}

/** Warning for a message that is delivered empty, which is allowed and rarely meant. */
export const NO_BODY = "The message has no body"

export const hasBody = ({ html, text }: Body): boolean => (html ?? "") !== "" || (text ?? "") !== ""
