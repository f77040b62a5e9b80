import * as Address from "@waybill/domain/values/Address"
import type * as ResendMessage from "./ResendMessage.ts"

/** A name that needs quotes and has none. One with an @ may be a list of addresses, which is refused. */
const NEEDS_QUOTES = /[,;]/u
const UNQUOTED = /^[^"\\<>@]*$/u
const ADDRESS = /^<[^<>]*>$/u

/** Quotes names such as those of `Acme, Inc. <hi@acme.test>`, which Symfony sends as they are: each text is one mailbox. */
export const quoted = ({ bcc, cc, from, reply_to, to }: ResendMessage.Message) =>
  Object.fromEntries(
    Object.entries({ from, to, cc, bcc, reply_to }).flatMap(([field, mailboxes]) =>
      mailboxes === undefined ? [] : [[field, typeof mailboxes === "string" ? quote(mailboxes) : mailboxes.map(quote)]],
    ),
  )

/** Reads each part once: a text may be as large as a body. */
const quote = (mailbox: string): string => {
  const begin = mailbox.indexOf("<")
  if (begin < 0 || mailbox.length > Address.MAX_MAILBOX_CHARS) return mailbox
  const [name, address] = [mailbox.slice(0, begin).trim(), mailbox.slice(begin).trim()]
  return NEEDS_QUOTES.test(name) && UNQUOTED.test(name) && ADDRESS.test(address) ? `"${name}" ${address}` : mailbox
}
