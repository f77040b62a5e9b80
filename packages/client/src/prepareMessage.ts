import { type AttachmentInput, encodeAttachment } from "./encodeAttachment.ts"
import type { WithDates, WriteOptions } from "./Queries.ts"
import { type ReactElementLike, renderReact } from "./renderReact.ts"
import type * as T from "./types.ts"
import { WaybillError } from "./WaybillError.ts"

/** A message of the API, which may also have a React element, files and a `Date`. */
export type MessageInput = WithDates<Omit<T.EmailMessage, "attachments">, "scheduled_at"> & {
  /** Files, at most 20 */
  readonly attachments?: ReadonlyArray<AttachmentInput> | null
  /** Body as a React element, in place of `html`. Needs the package `@react-email/render`. */
  readonly react?: ReactElementLike | null
}

/** A message that has something to read. */
export type MessageWithBody = MessageInput &
  ({ readonly html: string } | { readonly text: string } | { readonly react: ReactElementLike })

/** A message whose recipients get an empty email. */
export type MessageWithoutBody = Omit<MessageInput, "html" | "text" | "react"> & {
  readonly html?: null
  readonly text?: null
  readonly react?: null
}

export interface BatchOptions extends WriteOptions {
  readonly mode?: "all_or_nothing" | "permissive"
}

/** Sends an email. */
export interface Send<A = T.Acknowledgement> {
  (email: MessageWithBody, options?: WriteOptions): Promise<A>
  /**
   * Sends an email that is empty: it has neither `html`, `text` nor `react`.
   * @deprecated An empty email is rarely meant. Give `html`, `text` or `react`.
   */
  (email: MessageWithoutBody, options?: WriteOptions): Promise<A>
  (email: MessageInput, options?: WriteOptions): Promise<A>
}

/** Sends up to 100 emails. */
export interface SendBatch<A = T.BatchAnswer> {
  (messages: readonly MessageWithBody[], options?: BatchOptions): Promise<A>
  /**
   * Sends emails some of which are empty: they have neither `html`, `text` nor `react`.
   * @deprecated An empty email is rarely meant. Give `html`, `text` or `react`.
   */
  (messages: readonly (MessageWithBody | MessageWithoutBody)[], options?: BatchOptions): Promise<A>
  (messages: readonly MessageInput[], options?: BatchOptions): Promise<A>
}

/** Returns the message as the API takes it. `at` is the path of the message in its request. */
export const prepareMessage = async (
  message: MessageInput,
  at = "",
): Promise<WithDates<T.EmailMessage, "scheduled_at">> => {
  const { attachments, react, ...fields } = message
  const body = react === undefined || react === null ? {} : await renderBody(fields, react, at)
  if (attachments === undefined || attachments === null) return { ...fields, ...body }
  const files = await Promise.all(attachments.map((file, i) => encodeAttachment(file, `${at}attachments[${i}]`)))
  return { ...fields, ...body, attachments: files }
}

const renderBody = async (
  { html, text }: Pick<T.EmailMessage, "html" | "text">,
  react: ReactElementLike,
  at: string,
): Promise<Pick<T.EmailMessage, "html" | "text">> => {
  const path = `${at}react`
  if (html !== undefined && html !== null) throw WaybillError.invalid(path, `replaces \`${at}html\`; give one of them`)
  const rendered = await renderReact(react, path)
  return { html: rendered.html, text: text ?? rendered.text }
}
