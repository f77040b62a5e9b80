import type * as ResendMessage from "./ResendMessage.ts"

/** A mailbox whose name is not in quotes. A name with an @ may be a list of addresses, which is refused. */
const UNQUOTED = /^\s*([^"\\<>@]*[,;][^"\\<>@]*?)\s*(<[^<>]*>)\s*$/u

/** Quotes names such as those of `Acme, Inc. <hi@acme.test>`, which Symfony sends as they are: each text is one mailbox. */
export const quoted = ({ bcc, cc, from, reply_to, to }: ResendMessage.Message) =>
  Object.fromEntries(
    Object.entries({ from, to, cc, bcc, reply_to }).flatMap(([field, mailboxes]) =>
      mailboxes === undefined ? [] : [[field, typeof mailboxes === "string" ? quote(mailboxes) : mailboxes.map(quote)]],
    ),
  )

const quote = (mailbox: string): string => mailbox.replace(UNQUOTED, '"$1" $2')
