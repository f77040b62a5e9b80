import type { Attachment, Heading, Person } from "@waybill/domain/inbound/InboundState"
import * as Text from "@waybill/domain/values/Text"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { addressParser, decodeWords } from "postal-mime"
import * as MediaType from "../compose/MediaType.ts"
import * as Automatic from "./Automatic.ts"
import * as HeaderFields from "../mime/HeaderFields.ts"
import * as MimeReader from "../mime/MimeReader.ts"

/** Maximum people of one header, references and attachments that a record has; beyond them it is not complete. */
export const MAX_PEOPLE = 100
export const MAX_REFERENCES = 100
export const MAX_ATTACHMENTS = 100
/** Maximum characters of a header with people that are read. */
export const MAX_PEOPLE_CHARS = 64 * 1024
/** Maximum characters of a subject, of a Message-ID, and of any other text of a record. */
export const MAX_SUBJECT_CHARS = 998
export const MAX_MESSAGE_ID_CHARS = 998
const MAX_TEXT_CHARS = 320
/** Bytes at the start of a mail in which its header is looked for, if the whole cannot be read. */
const HEADER_BYTES = 64 * 1024

/** Reads what the header of a mail says, and what files it has. */
export const read = (bytes: Uint8Array): Heading => {
  const mail = MimeReader.readIfSimple(bytes, { exact: true })
  return mail === undefined ? ofHeader(bytes) : of(mail)
}

/** Reads the header alone, of a mail that has too many parts, or whose reading took too long. */
export const ofHeader = (bytes: Uint8Array): Heading => {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, HEADER_BYTES))
  const lines = start.toString("utf8").split(/\r?\n/u)
  const end = lines.indexOf("")
  const headers = HeaderFields.read(end === -1 ? lines : lines.slice(0, end))
  return { ...fromHeaders(headers), attachments: [], complete: false }
}

const of = (mail: MimeReader.Mail): Heading => {
  const { complete, ...heading } = fromHeaders(mail.headers)
  return {
    ...heading,
    attachments: mail.files.slice(0, MAX_ATTACHMENTS).map(attachment),
    complete: complete && mail.files.length <= MAX_ATTACHMENTS,
  }
}

const fromHeaders = (headers: ReadonlyArray<HeaderFields.Field>): Omit<Heading, "attachments"> => {
  const valueOf = (name: string) => HeaderFields.valueOf(headers, name)
  const [from, to, cc, reply_to] = ["from", "to", "cc", "reply-to"].map((name) => peopleIn(headers, name)) as Lists
  const references = messageIdsIn(valueOf("references") ?? "")
  const [message_id = null] = messageIdsIn(valueOf("message-id") ?? "")
  const [in_reply_to = null] = messageIdsIn(valueOf("in-reply-to") ?? "")
  const subject = valueOf("subject")
  const lists = [from, to, cc, reply_to]
  return {
    from: from[0] ?? null,
    to: to.slice(0, MAX_PEOPLE),
    cc: cc.slice(0, MAX_PEOPLE),
    reply_to: reply_to.slice(0, MAX_PEOPLE),
    subject: subject === undefined ? null : Text.clip(decodeWords(subject), MAX_SUBJECT_CHARS),
    date: dateIn(valueOf("date") ?? ""),
    message_id,
    in_reply_to,
    references: references.slice(-MAX_REFERENCES),
    automatic: Automatic.kindOf(headers),
    complete: references.length <= MAX_REFERENCES && lists.every((people) => people.length <= MAX_PEOPLE),
  }
}

type Lists = [ReadonlyArray<Person>, ReadonlyArray<Person>, ReadonlyArray<Person>, ReadonlyArray<Person>]

const peopleIn = (headers: ReadonlyArray<HeaderFields.Field>, name: string): ReadonlyArray<Person> =>
  addressParser((HeaderFields.valueOf(headers, name) ?? "").slice(0, MAX_PEOPLE_CHARS), { flatten: true }).flatMap(
    (one) => {
      const address = Text.clip(quoted(one.address ?? ""), MAX_TEXT_CHARS)
      const shown = Text.clip(one.name, MAX_TEXT_CHARS)
      return address === "" && shown === "" ? [] : [shown === "" ? { address } : { address, name: shown }]
    },
  )

/** The parser takes the quotes off a local part; without them, the address would be another one or none. */
const quoted = (address: string): string => {
  const at = address.lastIndexOf("@")
  const local = address.slice(0, Math.max(at, 0))
  return /[\s()<>,;:\\"[\]]/u.test(local) ? `"${local.replaceAll(/["\\]/gu, "\\$&")}"${address.slice(at)}` : address
}

/** Message-IDs stand in angle brackets; programs that leave them out write one id alone. */
const messageIdsIn = (value: string): ReadonlyArray<string> => {
  const text = value.slice(0, MAX_PEOPLE_CHARS)
  const found = text.match(/<[^<>\s]{1,996}>/gu) ?? []
  const bare = value.slice(0, MAX_MESSAGE_ID_CHARS).trim()
  return (found.length === 0 && /^[^\s<>]+@[^\s<>]+$/u.test(bare) ? [`<${bare}>`] : found)
    .map((id) => Text.clip(id, MAX_MESSAGE_ID_CHARS))
    .filter((id) => id !== "")
}

const dateIn = (value: string): Timestamp.Timestamp | null => {
  const millis = Date.parse(value.slice(0, MAX_TEXT_CHARS).replace(/\s*\([^()]*\)\s*$/u, ""))
  return Number.isNaN(millis) ? null : Timestamp.fromMillis(millis)
}

const attachment = ({ content, contentId, filename, mimeType, part }: MimeReader.File, nth: number): Attachment => {
  const id = Text.clip(contentId?.trim().replace(/^<|>$/gu, "") ?? "", MAX_TEXT_CHARS)
  return {
    id: attachmentId(nth),
    filename: Text.clip(filename ?? "", MAX_TEXT_CHARS) || `attachment-${nth + 1}`,
    content_type: MediaType.isMediaType(mimeType) ? mimeType : MediaType.UNKNOWN,
    size_bytes: content.length,
    content_id: id === "" ? null : id,
    disposition:
      part.disposition.value === "inline" || (id !== "" && part.disposition.value === "") ? "inline" : "attachment",
  }
}

/** Attachments are named by their place, which never changes. */
export const attachmentId = (nth: number): string => `att_${nth + 1}`

/** Returns the place of an attachment; undefined for any other text. */
export const placeOf = (id: string): number | undefined => {
  const [, nth] = /^att_([1-9][0-9]{0,3})$/u.exec(id) ?? []
  return nth === undefined ? undefined : Number(nth) - 1
}
