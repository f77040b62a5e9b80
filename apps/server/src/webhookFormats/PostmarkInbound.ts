import * as Inbound from "@waybill/domain/inbound/Inbound"
import type { Address } from "@waybill/domain/values/Address"
import * as Uuid from "@waybill/domain/values/Uuid"
import * as People from "./ReceivedPeople.ts"

/** Postmark's stream of received mail. */
export const STREAM = "inbound"

type Person = People.Received["to"][number]

const fullOf = ({ address, name }: Person) => ({
  Email: address,
  Name: name ?? "",
  MailboxHash: Inbound.mailboxHashOf(address as Address) ?? "",
})

/** Returns what Postmark says of a received mail, apart from its texts, headers and files. */
export const fieldsOf = (mail: People.Received) => {
  const sender = fullOf(People.senderOf(mail))
  const hidden = People.hiddenOf(mail)
  return {
    From: sender.Email,
    FromName: sender.Name,
    FromFull: sender,
    To: People.textsOf(mail.to),
    ToFull: mail.to.map(fullOf),
    Cc: People.textsOf(mail.cc),
    CcFull: mail.cc.map(fullOf),
    Bcc: People.textsOf(hidden),
    BccFull: hidden.map(fullOf),
    OriginalRecipient: mail.envelope.to[0] ?? "",
    ReplyTo: People.textsOf(mail.reply_to),
    Subject: mail.subject ?? "",
    MessageID: Uuid.of(mail.id) ?? mail.id,
    MessageStream: STREAM,
    // A mail may have no date of its own, or one that cannot be read.
    Date: new Date(mail.date ?? mail.created_at).toUTCString().replace("GMT", "+0000"),
    MailboxHash: mail.mailbox_hash ?? "",
    Tag: "",
  }
}

/** Whether a mail says that it answers another one. */
export const isReply = ({ in_reply_to, references }: People.Received): boolean =>
  in_reply_to !== null || references.length > 0

/** Returns the headers with which Postmark tells the return path, and what SPF says of it (RFC 7208 §9.1). */
export const findingsOf = ({ auth, envelope }: People.Received) => {
  const { from, helo, remote_ip } = envelope
  const returnPath = { Name: "Return-Path", Value: `<${from}>` }
  if (remote_ip === null) return [returnPath]
  const pairs = [`client-ip=${remote_ip}`, `envelope-from=${quoted(from)}`, `helo=${quoted(helo ?? "")}`]
  return [returnPath, { Name: "Received-SPF", Value: `${auth.spf} ${pairs.join("; ")}` }]
}

const quoted = (text: string): string => `"${text.replaceAll(/["\\]/gu, "\\$&")}"`
