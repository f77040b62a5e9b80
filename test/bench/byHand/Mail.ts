// A message as strings, without a look at what it contains: composed, and signed as Waybill signs.
import { hash, type KeyObject, sign as signBytes } from "node:crypto"

export interface Message {
  readonly id: string
  readonly createdAt: string
  readonly from: string
  readonly to: string
  readonly replyTo: string
  readonly subject: string
  readonly headers: Readonly<Record<string, string>>
  readonly html: string
  readonly text: string
  readonly domain: string
}

const ASCII_LINES = /^[\t\n\r\x20-\x7e]*$/u
const LINE_OF_BASE64 = 76
const LINE_OF_SIGNATURE = 72
const MOST_OF_LINE = 998

/** Names of the signed fields, those of a message that Waybill signs; fields that it lacks are signed as absent. */
const SIGNED = (
  "From:From:Sender:Reply-To:Reply-To:To:To:Cc:Subject:Subject:Date:Date:Message-ID:Message-ID:In-Reply-To:References:" +
  "MIME-Version:MIME-Version:Content-Type:Content-Type:Content-Transfer-Encoding:List-Unsubscribe:List-Unsubscribe-Post"
).split(":")
/** The list without `Reply-To`, for mail that has none. */
const NAMES = new Map(
  [true, false].map((hasReplyTo) => {
    const names = hasReplyTo ? SIGNED : SIGNED.filter((name, nth) => name !== "Reply-To" || SIGNED[nth - 1] === name)
    return [
      hasReplyTo,
      names
        .join(":")
        .replace(/.{1,68}(?::|$)/gu, "$&\r\n ")
        .trimEnd(),
    ]
  }),
)

/** Loops are faster here than a regular expression. */
const folded = (text: string, length: number, separator: string): string => {
  let out = text.slice(0, length)
  for (let at = length; at < text.length; at += length) out += separator + text.slice(at, at + length)
  return out
}

const part = (type: string, text: string): string => {
  const isPlain = ASCII_LINES.test(text) && !text.split("\n").some(({ length }) => length > MOST_OF_LINE)
  const head = `Content-Type: text/${type}; charset=utf-8\r\nContent-Transfer-Encoding: `
  return isPlain
    ? `${head}7bit\r\n\r\n${text.replaceAll("\n", "\r\n")}`
    : `${head}base64\r\n\r\n${folded(Buffer.from(text).toString("base64"), LINE_OF_BASE64, "\r\n")}`
}

interface Composed {
  readonly head: string
  readonly body: string
  /** The signed header fields in their canonical form. */
  readonly canonical: string
  readonly names: string
}

const compose = (message: Message): Composed => {
  const boundary = `=_${message.id}_alt`
  const body =
    `--${boundary}\r\n${part("plain", message.text)}\r\n--${boundary}\r\n${part("html", message.html)}\r\n` +
    `--${boundary}--\r\n`
  const hasReplyTo = message.replyTo !== ""
  const date = new Date(message.createdAt).toUTCString().replace("GMT", "+0000")
  const messageId = `<${message.id}@${message.domain}>`
  let head = `Date: ${date}\r\nFrom: ${message.from}\r\n${hasReplyTo ? `Reply-To: ${message.replyTo}\r\n` : ""}To: ${message.to}\r\n`
  head += `Subject: ${message.subject}\r\nMessage-ID: ${messageId}\r\n`
  for (const name in message.headers) head += `${name}: ${message.headers[name]}\r\n`
  head += `MIME-Version: 1.0\r\nContent-Type: multipart/alternative;\r\n boundary="${boundary}"\r\n\r\n`
  const canonical =
    `from:${message.from}\r\n${hasReplyTo ? `reply-to:${message.replyTo}\r\n` : ""}to:${message.to}\r\n` +
    `subject:${message.subject}\r\ndate:${date}\r\nmessage-id:${messageId}\r\nmime-version:1.0\r\n` +
    `content-type:multipart/alternative; boundary="${boundary}"\r\n`
  return { head, body, canonical, names: NAMES.get(hasReplyTo) ?? "" }
}

/**
 * Composes a message and signs it on a thread. Its body is signed as it is (`relaxed/simple`), which is cheaper than
 * Waybill's form.
 */
export const signed = (message: Message, key: KeyObject, done: (text: string) => void): void => {
  const { body, canonical, head, names } = compose(message)
  const bodyHash = hash("sha256", body, "base64")
  const start = `v=1; a=rsa-sha256; c=relaxed/simple;\r\n d=${message.domain};\r\n s=wb1;\r\n h=${names};\r\n bh=${bodyHash};\r\n b=`
  const data = Buffer.from(`${canonical}dkim-signature:${start.replaceAll("\r\n", "")}`, "latin1")
  signBytes("sha256", data, key, (error, signature) => {
    if (error !== null) throw error
    const value = folded(signature.toString("base64"), LINE_OF_SIGNATURE, "\r\n ")
    done(`DKIM-Signature: ${start}${value}\r\n${head}${body}`)
  })
}
