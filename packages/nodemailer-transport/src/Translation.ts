import * as Attachments from "./Attachments.ts"
import { type Data, isData, isSet, listOf } from "./Data.ts"
import * as Headers from "./Headers.ts"
import { type FieldProblem, fromProblems } from "./TransportError.ts"

/** The part of nodemailer's message that is used here. It is declared because nodemailer's types differ by version. */
export interface ComposedMail {
  readonly data: object
  readonly message: { getAddresses(): object; getEnvelope(): object }
  normalize(callback: (error?: Error | null, data?: object) => void): void
}

/** A request to the API, and what its answer is explained with. */
export interface Translated {
  readonly body: object
  readonly from: string
  readonly recipients: ReadonlyArray<string>
  readonly idempotencyKey: string | undefined
  readonly signal: AbortSignal | undefined
  /** Fields by the places in the body to which they were translated, if these differ. */
  readonly fields: ReadonlyMap<string, string>
}

/** Fields that have no meaning for Waybill, and what to do instead. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  raw: "is not supported: Waybill composes the message itself. Send composed messages over SMTP",
  alternatives: "is not supported; use `text`, `html`, `icalEvent` or `attachments`",
  watchHtml: "is not supported: Waybill sends one text and one HTML part",
  amp: "is not supported: Waybill sends one text and one HTML part",
  messageId: "cannot be set: Waybill writes the Message-ID, and the result has it",
  date: "cannot be set: Waybill writes the date. Use `scheduledAt` to send later",
  dkim: "cannot be set: Waybill signs with the key of the domain",
  dsn: "is not supported: Waybill reports deliveries and bounces by webhooks",
  auth: "is not supported: make a transport for each key",
  otp: "is not supported",
  requireTLSExtensionEnabled: "is not supported",
}

interface Mailbox {
  readonly address: string
  readonly name?: string
}

/** Translates a message of nodemailer into a request to the API, or throws an error that names each wrong field. */
export const translate = async (mail: ComposedMail): Promise<Translated> => {
  const given = mail.data as Record<string, unknown>
  const problems: Array<FieldProblem> = []
  for (const [path, message] of Object.entries(UNSUPPORTED)) if (isSet(given[path])) problems.push({ path, message })
  checkLines(given, problems)
  const addresses = addressesOf(mail, given, problems)
  given["attachments"] = Attachments.prepare(given["attachments"], problems)
  if (problems.length > 0) throw fromProblems(problems)

  const data = await normalized(mail)
  for (const path of ADDRESSES)
    for (const name of namesWithoutAddress(data[path]))
      problems.push({ path, message: `has ${JSON.stringify(name)}, which is not an address` })
  const { fields, headers } = Headers.ofData(given, data, problems)
  if (addresses.sender !== undefined) headers["Sender"] = addresses.sender
  const files = Attachments.ofData(data["attachments"], problems)
  const attachments = [...files, ...Attachments.ofEvent(data["icalEvent"], problems)]
  if (given["scheduledAt"] instanceof Date && Number.isNaN(given["scheduledAt"].getTime()))
    problems.push({ path: "scheduledAt", message: "is not a valid date" })
  const text = textOf("text", data["text"], problems)
  const html = textOf("html", data["html"], problems)
  if (problems.length > 0) throw fromProblems(problems)
  const { idempotencyKey, listUnsubscribe, metadata, replyTracking, scheduledAt, signal, subject, tags, tracking } =
    given
  return {
    body: {
      from: addresses.from,
      to: addresses.to,
      subject: isSet(subject) ? String(subject) : "",
      ...(addresses.cc.length === 0 ? {} : { cc: addresses.cc }),
      ...(addresses.bcc.length === 0 ? {} : { bcc: addresses.bcc }),
      ...(addresses.replyTo.length === 0 ? {} : { reply_to: addresses.replyTo }),
      ...(text === undefined ? {} : { text }),
      ...(html === undefined ? {} : { html }),
      ...(Object.keys(headers).length === 0 ? {} : { headers }),
      ...(attachments.length === 0 ? {} : { attachments }),
      ...(isSet(tags) ? { tags } : {}),
      ...(isSet(metadata) ? { metadata } : {}),
      ...(isSet(scheduledAt) ? { scheduled_at: scheduledAt } : {}),
      ...(isSet(tracking) ? { tracking } : {}),
      ...(listUnsubscribe === undefined ? {} : { list_unsubscribe: listUnsubscribe }),
      ...(replyTracking === undefined ? {} : { reply_tracking: replyTracking }),
    },
    from: addresses.fromAddress,
    recipients: addresses.recipients,
    idempotencyKey: isSet(idempotencyKey) ? String(idempotencyKey) : undefined,
    signal: signal instanceof AbortSignal ? signal : undefined,
    fields: new Map([...fields, ["headers.Sender", "sender"], [`attachments[${files.length}]`, "icalEvent"]]),
  }
}

/** Fields with addresses, which nodemailer parses. */
const ADDRESSES = ["from", "sender", "to", "cc", "bcc", "replyTo"] as const

/**
 * Refuses addresses that end a line, and groups in an envelope. Nodemailer would read what stands before a colon as the name of
 * a group, so that a recipient with "\r\nBcc: other@…" appended would be replaced by the other.
 */
const checkLines = (given: Data, problems: Array<FieldProblem>): void => {
  for (const path of ADDRESSES)
    if (textsIn(given[path]).some(endsLine)) problems.push({ path, message: "must not contain line breaks" })
  const { envelope } = given
  if (!isSet(envelope)) return
  if (!isData(envelope))
    return void problems.push({ path: "envelope", message: "must be an object with `from` and `to`" })
  for (const path of ["from", "to", "cc", "bcc"])
    if (textsIn(envelope[path]).some((text) => endsLine(text) || text.includes(":")))
      problems.push({ path: `envelope.${path}`, message: "must be addresses" })
}

/** A line break before white space continues a header. */
const endsLine = (text: string): boolean => /[\r\n\0]/.test(text.replaceAll(/\r?\n(?=[ \t])/g, ""))

/** Texts of an address, of its parts, or of a list of addresses. */
const textsIn = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return [value]
  if (Array.isArray(value)) return value.flatMap(textsIn)
  return isData(value) ? [value["name"], value["address"]].filter((text) => typeof text === "string") : []
}

/** Has nodemailer read all streams, files and URLs, under its own settings that may forbid this. */
const normalized = (mail: ComposedMail): Promise<Data> =>
  new Promise((resolve, reject) => {
    mail.normalize((error, data) => (error ? reject(error) : resolve(data as Data)))
  })

const addressesOf = (mail: ComposedMail, given: Data, problems: Array<FieldProblem>) => {
  const headers = mail.message.getAddresses() as Readonly<Record<string, ReadonlyArray<Mailbox> | undefined>>
  const list = (name: string) => headers[name] ?? []
  const [from, ...otherFrom] = list("from")
  if (from === undefined) problems.push({ path: "from", message: "must be an address" })
  if (otherFrom.length > 0) problems.push({ path: "from", message: "must be a single address" })
  const [sender, ...otherSenders] = list("sender")
  if (otherSenders.length > 0) problems.push({ path: "sender", message: "must be a single address" })
  const senders = [from, sender].flatMap((mailbox) => (mailbox === undefined ? [] : [mailbox]))
  const to = list("to")
  const cc = list("cc")
  const bcc = isData(given["envelope"]) ? hiddenIn(mail, senders, [...to, ...cc], problems) : list("bcc")
  if (to.length === 0) problems.push({ path: "to", message: "must have at least one address" })
  return {
    from: from === undefined ? "" : format(from),
    fromAddress: from?.address ?? "",
    sender: sender === undefined ? undefined : format(sender),
    to: to.map(format),
    cc: cc.map(format),
    bcc: bcc.map(format),
    replyTo: list("reply-to").map(format),
    recipients: [...new Set([...to, ...cc, ...bcc].map(({ address }) => address))],
  }
}

/**
 * Returns the recipients of an explicit envelope that the message does not show. Waybill delivers to all addresses that
 * the message shows and sets the return path itself, so an envelope that says otherwise is refused.
 */
const hiddenIn = (
  mail: ComposedMail,
  senders: ReadonlyArray<Mailbox>,
  shown: ReadonlyArray<Mailbox>,
  problems: Array<FieldProblem>,
): ReadonlyArray<Mailbox> => {
  const { from, to } = mail.message.getEnvelope() as { readonly from: unknown; readonly to: unknown }
  const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()
  if (typeof from === "string" && from !== "" && !senders.some(({ address }) => isSame(address, from)))
    problems.push({
      path: "envelope.from",
      message: `is ${from}, and must be the address of \`from\` or \`sender\`: Waybill receives bounces at an address of its own`,
    })
  const recipients = listOf(to).map(String)
  for (const { address } of shown)
    if (!recipients.some((each) => isSame(each, address)))
      problems.push({
        path: "envelope.to",
        message: `lacks ${address}, which the message shows in \`to\` or \`cc\`; Waybill delivers to all that it shows`,
      })
  return recipients
    .filter((each) => !shown.some(({ address }) => isSame(each, address)))
    .map((address) => ({ address }))
}

/** Names that nodemailer has read as addresses without an address, or as those of groups, and would leave out. */
const namesWithoutAddress = (value: unknown): ReadonlyArray<unknown> =>
  listOf(value).flatMap((each) => {
    if (!isData(each) || isSet(each["address"])) return []
    const name = each["name"]
    if (!Array.isArray(each["group"])) return [name]
    // An address before a colon was meant to be one.
    return [...(typeof name === "string" && name.includes("@") ? [name] : []), ...namesWithoutAddress(each["group"])]
  })

const format = ({ address, name = "" }: Mailbox): string =>
  name === "" ? address : `"${name.replaceAll(/[\\"]/g, "\\$&")}" <${address}>`

const textOf = (path: string, value: unknown, problems: Array<FieldProblem>): string | undefined => {
  if (typeof value === "string" || value === undefined || value === null || value === false) return value || undefined
  if (isData(value) && isData(value["content"]) && value["content"]["content"] === "") return undefined
  problems.push({
    path,
    message: "must be a string, a Buffer, a stream, or an object with `content`, `path` or `href`",
  })
  return undefined
}
