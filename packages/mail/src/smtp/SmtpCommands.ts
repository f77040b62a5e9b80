import * as Address from "@waybill/domain/values/Address"
import type { SmtpBody } from "./SmtpBody.ts"

export interface Envelope {
  readonly from: string
  /** In the order of the envelope. */
  readonly to: ReadonlyArray<string>
  readonly body: SmtpBody
  /** An address or a header requires RFC 6531. */
  readonly utf8: boolean
  /** Envelope id under which to request a report of success, if the server offers it (RFC 3461). */
  readonly dsn?: string | undefined
}

type Extensions = ReadonlyMap<string, string>

/** Commands of a transaction, with the parameters that the server offers. */
export const mail = (extensions: Extensions, { body, dsn, from, utf8 }: Envelope): string => {
  const parameters = [
    ...(extensions.has("SIZE") ? [`SIZE=${body.size}`] : []),
    ...(extensions.has("8BITMIME") && body.eightBit ? ["BODY=8BITMIME"] : []),
    ...(utf8 ? ["SMTPUTF8"] : []),
    ...(dsn !== undefined && extensions.has("DSN") ? ["RET=HDRS", `ENVID=${xtext(dsn)}`] : []),
  ]
  return `${[`MAIL FROM:<${from}>`, ...parameters].join(" ")}\r\n`
}

export const rcpt = (extensions: Extensions, { dsn }: Envelope, recipient: string): string => {
  const address = Address.quote(recipient)
  return dsn !== undefined && extensions.has("DSN")
    ? `RCPT TO:<${address}> NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;${xtext(address)}\r\n`
    : `RCPT TO:<${address}>\r\n`
}

/** RFC 3461 §4. */
const xtext = (text: string): string =>
  Buffer.from(text)
    .toString("latin1")
    .replace(/[^!-*,-<>-~]/gu, (character) => `+${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`)
