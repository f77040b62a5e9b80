import { type AttachmentInput, encodeAttachment } from "./encodeAttachment.ts"
import type { WithDates, WriteOptions } from "./CallTypes.ts"
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

/** Variables of templates by alias. `waybill templates types` writes them, so that the compiler checks a message. */
export interface TemplateTypes {}

type AnyTemplates = Readonly<Record<string, T.TemplateVariables>>
type Templates = keyof TemplateTypes extends never ? AnyTemplates : TemplateTypes
type Choice = Omit<T.TemplateChoice, "alias" | "id" | "variables">
type ChoiceByAlias<Alias> = Choice & { readonly alias: Alias; readonly id?: null }
type ChoiceById = Choice & { readonly id: string; readonly alias?: null }
/** Variables may be left out if all of them may. */
type With<Variables> = {} extends Variables ? { readonly variables?: Variables } : { readonly variables: Variables }
type Without = { readonly variables?: never }
type Common = WithDates<Omit<T.TemplatedMessage, "attachments" | "template" | "html" | "text">, "scheduled_at"> &
  Pick<MessageInput, "attachments">

/** A message that is made of a template: by its alias, or by its id, a version or a language. */
export type TemplatedInput = Common &
  (
    | {
        readonly [Alias in Extract<keyof Templates, string>]:
          | ({ readonly template: Alias | ChoiceByAlias<Alias> } & With<Templates[Alias]>)
          | ({ readonly template: ChoiceByAlias<Alias> & With<Templates[Alias]> } & Without)
      }[Extract<keyof Templates, string>]
    | ({ readonly template: ChoiceById } & With<T.TemplateVariables>)
    | ({ readonly template: ChoiceById & With<T.TemplateVariables> } & Without)
  )

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
  (email: MessageWithBody | TemplatedInput, options?: WriteOptions): Promise<A>
  /**
   * Sends an email that is empty: it has neither `html`, `text` nor `react`.
   * @deprecated An empty email is rarely meant. Give `html`, `text` or `react`.
   */
  (email: MessageWithoutBody, options?: WriteOptions): Promise<A>
  (email: MessageInput | TemplatedInput, options?: WriteOptions): Promise<A>
}

/** Sends up to 100 emails. */
export interface SendBatch<A = T.BatchAnswer> {
  (messages: readonly (MessageWithBody | TemplatedInput)[], options?: BatchOptions): Promise<A>
  /**
   * Sends emails some of which are empty: they have neither `html`, `text` nor `react`.
   * @deprecated An empty email is rarely meant. Give `html`, `text` or `react`.
   */
  (messages: readonly (MessageWithBody | MessageWithoutBody | TemplatedInput)[], options?: BatchOptions): Promise<A>
  (messages: readonly (MessageInput | TemplatedInput)[], options?: BatchOptions): Promise<A>
}

/** Returns the message as the API takes it. `at` is the path of the message in its request. */
export const prepareMessage = async (
  message: MessageInput | TemplatedInput,
  at = "",
): Promise<WithDates<T.EmailMessage | T.TemplatedMessage, "scheduled_at">> => {
  const { attachments, ...fields } = message
  const words = "template" in fields ? withTemplate(fields) : await withBody(fields, at)
  if (attachments === undefined || attachments === null) return words
  const files = await Promise.all(attachments.map((file, i) => encodeAttachment(file, `${at}attachments[${i}]`)))
  return { ...words, attachments: files }
}

const withBody = async ({ react, ...fields }: Omit<MessageInput, "attachments">, at: string) =>
  react === undefined || react === null ? fields : { ...fields, ...(await renderBody(fields, react, at)) }

const withTemplate = ({ template, variables, ...fields }: Omit<TemplatedInput, "attachments">) => {
  const chosen: T.TemplateChoice = typeof template === "string" ? { alias: template } : template
  return { ...fields, template: variables === undefined ? chosen : { ...chosen, variables } }
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
