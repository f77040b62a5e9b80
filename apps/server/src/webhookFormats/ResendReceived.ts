import * as Uuid from "@waybill/domain/values/Uuid"
import { hash } from "node:crypto"
import * as People from "./ReceivedPeople.ts"

/** Returns the id of an attachment, a UUID that is always the same (RFC 9562 §5.8). */
export const attachmentIdOf = (email_id: string, nth: number): string => {
  const hex = hash("sha256", `${email_id}/${nth}`, "hex")
  return Uuid.format(`${hex.slice(0, 12)}8${hex.slice(13, 16)}8${hex.slice(17, 32)}`)
}

const addressesOf = (people: People.Received["to"]) => people.map(({ address }) => address)

/** Returns what Resend says of a received mail, apart from its texts and headers. */
export const fieldsOf = (mail: People.Received) => ({
  from: People.textOf(People.senderOf(mail)),
  to: addressesOf(mail.to),
  bcc: addressesOf(People.hiddenOf(mail)),
  cc: addressesOf(mail.cc),
  received_for: mail.envelope.to,
  message_id: mail.message_id ?? "",
  subject: mail.subject ?? "",
  created_at: mail.created_at,
})

/** Returns the files of a mail, without links. */
export const filesOf = ({ attachments, id }: People.Received) =>
  attachments.map(({ content_id, content_type, disposition, filename, size_bytes }, nth) => ({
    id: attachmentIdOf(id, nth),
    filename,
    size: size_bytes,
    content_type,
    content_disposition: disposition,
    ...(content_id === null ? {} : { content_id }),
  }))

/** Returns the data of a call: Resend's have neither texts nor headers. */
export const eventDataOf = (mail: People.Received) => ({
  email_id: mail.id,
  ...fieldsOf(mail),
  attachments: filesOf(mail).map(({ size: _, ...file }) => file),
})
