import * as Id from "@waybill/domain/Id"
import type * as RelayTransport from "@waybill/mail/RelayTransport"
import type { OutgoingMessage, Outcome } from "@waybill/mail/Transport"
import type { SmtpServer } from "../support/smtpServer.ts"

const ID = Id.make("EmailId", 1_763_683_200_000, new Uint8Array(10))

export const lines = (...rows: ReadonlyArray<string>): Uint8Array =>
  Buffer.from(rows.map((row) => `${row}\r\n`).join(""))

export const outgoing = (fields: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  emailId: ID,
  mailFrom: () => "b-1@bounce.acme.test",
  bytes: lines(
    "From: hi@acme.test",
    `Message-ID: <${ID}@acme.test>`,
    "Subject: x",
    "",
    ".starts with a dot",
    "..",
    "end",
  ),
  smtpUtf8: false,
  attempt: 1,
  ...fields,
})

/** Larger than what socket buffers take at once, so a server can go away before the end is written. */
export const large = (octets = 8_000_000): Uint8Array =>
  Buffer.concat([outgoing().bytes, Buffer.from(`${"x".repeat(76)}\r\n`.repeat(Math.ceil(octets / 78)))])

export const relayTo = (server: SmtpServer, fields: Partial<RelayTransport.Relay> = {}): RelayTransport.Relay => ({
  host: server.host,
  port: server.port,
  tls: { mode: "none", verify: false },
  login: undefined,
  confirm: "none",
  connections: 5,
  ...fields,
})

/** Silence is found out quickly in tests. */
export const IMPATIENT = {
  connect_ms: 200,
  greeting_ms: 200,
  ehlo_ms: 200,
  tls_ms: 200,
  auth_ms: 200,
  mail_ms: 200,
  rcpt_ms: 200,
  data_ms: 200,
  block_ms: 200,
  end_of_data_ms: 200,
  quit_ms: 100,
}

export const short = (outcome: Outcome | undefined) => outcome && `${outcome.status} ${outcome.category ?? ""}`.trim()
