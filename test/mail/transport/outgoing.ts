import * as Id from "@waybill/domain/values/Id"
import type * as RelayTransport from "@waybill/mail/transport/RelayTransport"
import type { OutgoingMessage, RecipientOutcome } from "@waybill/mail/transport/Transport"
import type { SmtpServer } from "../../support/mail/smtpServer.ts"

const ID = Id.make("EmailId", 1_763_683_200_000, new Uint8Array(10))

export const lines = (...rows: ReadonlyArray<string>): Uint8Array =>
  Buffer.from(rows.map((row) => `${row}\r\n`).join(""))

export const outgoing = (fields: Partial<OutgoingMessage> = {}): OutgoingMessage => ({
  emailId: ID,
  owner: { account_id: "acc_1", domain_id: "dom_1" },
  subject: "x",
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
  scriptOf: () => undefined,
  report: () => {},
  ...fields,
})

/** A message larger than socket buffers, so that a server can close before the end is written. */
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

/** Timeouts longer than any answer takes on a busy machine. */
export const PATIENT = {
  connect_ms: 20_000,
  greeting_ms: 20_000,
  ehlo_ms: 20_000,
  tls_ms: 20_000,
  auth_ms: 20_000,
  mail_ms: 20_000,
  rcpt_ms: 20_000,
  data_ms: 20_000,
  block_ms: 20_000,
  end_of_data_ms: 20_000,
  quit_ms: 20_000,
}
export type Wait = keyof typeof PATIENT

/** Shortens the timeout of the phase in which a test makes the server silent. */
export const impatient = (wait: Wait | undefined, ms = 200) =>
  wait === undefined ? PATIENT : { ...PATIENT, [wait]: ms }

export const short = (outcome: RecipientOutcome | undefined) =>
  outcome && `${outcome.status} ${outcome.category ?? ""}`.trim()
