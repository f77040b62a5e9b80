import * as SendBatch from "@waybill/domain/account/SendBatch"
import * as Labels from "@waybill/domain/email/Labels"
import * as Address from "@waybill/domain/values/Address"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Fields from "../lenient/Fields.ts"
import * as OwnHeaders from "../lenient/OwnHeaders.ts"
import { shownIn } from "../lenient/shownIn.ts"
import type { Spelling } from "../Respelling.ts"
import * as SendGridIds from "./templates/SendGridIds.ts"
import * as SendGridMessage from "./SendGridMessage.ts"
import type * as Substitutions from "./Substitutions.ts"

/** Returns the body of our own send for a personalization. Absent fields are undefined, which JSON leaves out. */
export const toNative = (
  message: SendGridMessage.Message,
  personalization: SendGridMessage.Personalization,
  files: ReadonlyArray<File>,
  tracks: boolean,
  search: Substitutions.Search,
) => {
  const fill = (text: string) => search.fill(text, personalization.substitutions)
  const subject = personalization.subject ?? message.subject
  const contentOf = (wanted: "text/html" | "text/plain") => {
    const part = message.content?.find(({ type }) => type === wanted)
    return part === undefined ? undefined : fill(part.value)
  }
  const sendAt = personalization.send_at ?? message.send_at
  const replyTo = message.reply_to_list ?? (message.reply_to ? [message.reply_to] : [])
  const headers = OwnHeaders.drop(
    { ...message.headers, ...personalization.headers },
    replyTo.map(({ email }) => email),
  )
  return {
    from: mailbox(personalization.from ?? message.from),
    to: personalization.to.map(mailbox),
    cc: (personalization.cc ?? []).map(mailbox),
    bcc: (personalization.bcc ?? []).map(mailbox),
    reply_to: replyTo.map(mailbox),
    ...(message.template_id === undefined
      ? {
          subject: subject === undefined ? undefined : fill(subject),
          html: contentOf("text/html"),
          text: contentOf("text/plain"),
        }
      : // The subject of a template counts at SendGrid, and its content is all there is.
        {
          template: {
            id: SendGridIds.templateName(message.template_id),
            variables: personalization.dynamic_template_data ?? {},
          },
        }),
    headers:
      Object.keys(headers).length === 0
        ? undefined
        : Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value)])),
    ...labelsOf(message, personalization),
    accept_suppressed: true,
    scheduled_at: sendAt ? Timestamp.fromMillis(sendAt * Timestamp.SECOND) : undefined,
    // Where nothing can be tracked, nothing is.
    tracking: tracks ? trackingOf(message) : undefined,
    attachments: [
      ...files,
      ...(message.content ?? []).filter(SendGridMessage.isCalendar).map((part) => calendarOf(part, fill)),
    ],
  }
}

/** Returns the files that all personalizations share. One that is not said to be inline is, if the HTML shows it by its id. */
export const filesOf = ({ attachments = [], content = [] }: SendGridMessage.Message) => {
  const html = attachments.some(idOf) ? content.find(({ type }) => type === "text/html")?.value : undefined
  const isShown = shownIn(html ?? "")
  return attachments.map((attachment) => {
    const { content, content_type, disposition, filename = Fields.UNNAMED, type } = attachment
    const id = idOf(attachment)
    return {
      filename,
      content: Fields.base64Of(content),
      content_type: (type ?? content_type) || undefined,
      content_id: id !== undefined && (disposition === "inline" || isShown(id)) ? id : undefined,
    }
  })
}
type File = ReturnType<typeof filesOf>[number]

const idOf = ({ contentId, content_id }: SendGridMessage.Attachment): string | undefined =>
  (content_id ?? contentId) || undefined

const mailbox = ({ email, name }: SendGridMessage.Mailbox): string =>
  name ? Address.format({ address: email as Address.Address, name }) : email

/** A meeting invitation is another form of the text. Programs offer to answer it if its type says the method. */
const calendarOf = (
  { type, value }: NonNullable<SendGridMessage.Message["content"]>[number],
  fill: (text: string) => string,
) => {
  const method = /^METHOD:([A-Za-z-]{1,40})\s*$/mu.exec(value)?.[1]
  const says = (parameter: string) => new RegExp(`; *${parameter} *=`, "iu").test(type)
  const parameters = [
    ...(says("charset") ? [] : [";charset=utf-8"]),
    ...(method === undefined || says("method") ? [] : [`;method=${method}`]),
  ]
  return {
    filename: "invite.ics",
    content: Buffer.from(fill(value)).toString("base64"),
    content_type: type.replaceAll(/\s+/gu, "") + parameters.join(""),
    content_id: undefined,
    alternative: true,
  }
}

/** Categories that are too long or too many for tags are kept with the arguments, which are metadata. */
const labelsOf = (
  { batch_id, categories = [], custom_args, unique_args }: SendGridMessage.Message,
  own: SendGridMessage.Personalization,
) => {
  const { metadata, tags } = Labels.divide(categories)
  const pairs = {
    ...metadata,
    ...unique_args,
    ...custom_args,
    ...own.unique_args,
    ...own.custom_args,
    ...(batch_id === undefined ? {} : SendBatch.metadataOf(batch_id)),
  }
  return {
    tags: tags.length === 0 ? undefined : tags,
    metadata: Object.keys(pairs).length === 0 ? undefined : Fields.strings(pairs),
  }
}

/** Omitted if neither is set, so that the domain's setting applies. */
const trackingOf = ({ tracking_settings }: SendGridMessage.Message) => {
  const opens = tracking_settings?.open_tracking?.enable ?? undefined
  const clicks = tracking_settings?.click_tracking?.enable ?? undefined
  return opens === undefined && clicks === undefined ? undefined : { opens, clicks }
}

/** Returns the size of what every email of a request has a copy of. The number of its values is bounded by the schema. */
export const sharedBytes = (message: SendGridMessage.Message): number =>
  Buffer.byteLength(JSON.stringify({ ...message, personalizations: [] }))

/** Returns how SendGrid spells a field of the send, or of the batch, that a request was translated to. */
export const spellingOf = (message: SendGridMessage.Message, start = 0): Spelling => {
  return (path) => {
    const match = /^(?:emails\[(\d+)\]\.?)?(\w*)(?:\[(\d+)\])?(?:\.(.+))?$/su.exec(path)
    if (match === null) return path
    const [, nth = "0", head = "", index = "", rest = ""] = match
    const email = Number(nth) + start
    const own = message.personalizations[email]
    const at = `personalizations[${email}]`
    if (own === undefined) return path
    switch (head) {
      case "":
        return at
      case "from":
        return own.from ? `${at}.from.email` : "from.email"
      case "to":
      case "cc":
      case "bcc":
        return index === "" ? `${at}.${head}` : `${at}.${head}[${index}].email`
      case "reply_to":
        return message.reply_to_list ? `reply_to_list${index === "" ? "" : `[${index}].email`}` : "reply_to.email"
      case "subject":
        return typeof own.subject === "string" ? `${at}.subject` : "subject"
      case "html":
      case "text":
        return `content[${(message.content ?? []).findIndex(({ type }) => type.endsWith(head === "html" ? head : "plain"))}].value`
      case "headers":
        return Object.hasOwn(own.headers ?? {}, rest) ? `${at}.headers.${rest}` : path.slice(path.indexOf("headers"))
      case "template":
        return rest.startsWith("variables") ? `${at}.dynamic_template_data` : "template_id"
      case "tags":
        return "categories"
      case "metadata":
        if (rest === "") return "custom_args"
        if (Labels.isFurther(rest)) return "categories"
        return argumentPath(message, own, at, rest)
      case "scheduled_at":
        return own.send_at ? `${at}.send_at` : "send_at"
      case "attachments":
        if (Number(index || 0) >= (message.attachments?.length ?? 0) && index !== "")
          return `content[${(message.content ?? []).findIndex(SendGridMessage.isCalendar)}].${rest === "content" ? "value" : "type"}`
        return `attachments${index === "" ? "" : `[${index}]`}${rest === "" ? "" : `.${rest === "content_type" ? "type" : rest}`}`
      case "tracking":
        return `tracking_settings.${trackingOf(message)?.opens === true ? "open" : "click"}_tracking.enable`
      default:
        return path
    }
  }
}

/** Returns where the request has an argument: the first of these places counts. */
const argumentPath = (
  message: SendGridMessage.Message,
  own: SendGridMessage.Personalization,
  at: string,
  name: string,
): string => {
  const places = [
    [`${at}.custom_args`, own.custom_args],
    [`${at}.unique_args`, own.unique_args],
    ["custom_args", message.custom_args],
  ] as const
  const found = places.find(([, pairs]) => Object.hasOwn(pairs ?? {}, name))
  return `${found?.[0] ?? "unique_args"}.${name}`
}

/** Returns the number of recipients in a body that is not decoded yet. */
export const recipientsIn = (body: unknown): number =>
  listIn(body, "personalizations").reduce<number>(
    (sum, each) => sum + listIn(each, "to").length + listIn(each, "cc").length + listIn(each, "bcc").length,
    0,
  )

const listIn = (value: unknown, name: string): ReadonlyArray<unknown> => {
  const list: unknown = typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined
  return Array.isArray(list) ? list : []
}
