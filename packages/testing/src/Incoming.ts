import type { ApiRequests } from "./service/Api.ts"
import type { Sent } from "./Mailbox.ts"

export interface File {
  readonly filename: string
  /** The bytes, or base64. */
  readonly content: Uint8Array | string
  readonly content_type?: string
  readonly content_id?: string
}

/** A mail that comes in: its fields, or the whole of it as `raw`. */
export type Incoming = Fields | Raw

interface Fields {
  /** Sender, such as `Ana <ana@example.org>`. */
  readonly from: string
  readonly to: string | ReadonlyArray<string>
  readonly subject?: string
  readonly text?: string
  readonly html?: string
  readonly attachments?: ReadonlyArray<File>
  /** Message-ID of the mail that it answers. */
  readonly in_reply_to?: string
}

interface Raw {
  /** The mail as its server would send it: text, or bytes. */
  readonly raw: string | Uint8Array
  /** Return path and recipients; those of the header by default. */
  readonly from?: string
  readonly to?: string | ReadonlyArray<string>
}

/** Answer of a recipient. */
export interface Reply {
  readonly text?: string
  readonly html?: string
  readonly attachments?: ReadonlyArray<File>
  /** The first recipient to whom the message was delivered by default. */
  readonly from?: string
  /** `Re:` and the subject of the message by default. */
  readonly subject?: string
}

export interface Person {
  readonly address: string
  readonly name: string | null
}

/** A received mail, as the API and the webhook `email.received` show it. */
export interface Received {
  readonly id: string
  /** The email that it answers. */
  readonly email_id: string | null
  readonly thread_id: string
  readonly from: Person | null
  readonly to: ReadonlyArray<Person>
  readonly cc: ReadonlyArray<Person>
  readonly subject: string | null
  readonly text: string | null
  readonly html: string | null
  /** The text without what it quotes and without the signature. */
  readonly stripped_text: string | null
  readonly mailbox_hash: string | null
  readonly automatic: "auto_reply" | "bounce" | "list" | null
  readonly headers: ReadonlyArray<{ readonly name: string; readonly value: string }>
  readonly attachments: ReadonlyArray<{
    readonly id: string
    readonly filename: string
    readonly content_type: string
    readonly size_bytes: number
    /** Downloads the file without a key. */
    readonly url: string
  }>
}

export const receive = async (api: ApiRequests, mail: Incoming): Promise<Received> => {
  const { id } = (await api.post("/v1/test/inbound", bodyOf(mail))) as { readonly id: string }
  return (await api.get(`/v1/inbound/${id}`)) as Received
}

const bodyOf = (mail: Incoming): object => {
  if ("raw" in mail) return { ...mail, raw: Buffer.from(mail.raw).toString("base64") }
  const { attachments = [], ...fields } = mail
  return { ...fields, attachments: attachments.map(({ content, ...file }) => ({ ...file, content: base64(content) })) }
}

const base64 = (content: Uint8Array | string): string =>
  typeof content === "string" ? content : Buffer.from(content).toString("base64")

/** Makes the mail that answers a message. */
export const answerTo = (message: Sent & Pick<Received, "headers">, reply: Reply): Incoming => {
  const valueOf = (wanted: string) => message.headers.find(({ name }) => name.toLowerCase() === wanted)?.value
  const from = reply.from ?? message.delivered[0]
  if (from === undefined) throw new Error(`"${message.subject}" was not delivered, so nobody can answer it.`)
  const in_reply_to = valueOf("message-id")
  return {
    from,
    to: addressOf(valueOf("reply-to") ?? message.from),
    subject: /^re:/iu.test(message.subject) ? message.subject : `Re: ${message.subject}`,
    ...reply,
    ...(in_reply_to === undefined ? {} : { in_reply_to }),
  }
}

/** Returns the address in angle brackets, or the whole value. */
const addressOf = (value: string): string => /<([^<>]+)>[^<>]*$/u.exec(value)?.[1] ?? value.trim()
