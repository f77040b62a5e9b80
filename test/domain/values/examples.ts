import * as Acceptance from "@waybill/domain/email/Acceptance"
import * as Address from "@waybill/domain/values/Address"
import { Sha256 } from "@waybill/domain/values/Sha256"
import * as Domain from "@waybill/domain/domain/Domain"
import type * as DomainState from "@waybill/domain/domain/DomainState"
import type * as DkimKey from "@waybill/domain/domain/DkimKey"
import * as DomainName from "@waybill/domain/values/DomainName"
import type * as Email from "@waybill/domain/email/Email"
import * as EmailReport from "@waybill/domain/email/EmailReport"
import * as Id from "@waybill/domain/values/Id"
import type * as DeliveryOutcome from "@waybill/domain/email/DeliveryOutcome"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Result } from "effect"
import { assert } from "vitest"
import { given } from "../../support/givenWhenThen.ts"

export const NOW = Timestamp.Timestamp.make("2026-11-21T09:00:00.000Z")

/** Returns the time this many milliseconds after `NOW`. */
export const after = (millis: number): Timestamp.Timestamp => Timestamp.plus(NOW, millis)

/** Returns the n-th id of its kind, the same at every run. */
export const id = <Name extends keyof typeof Id.PREFIXES>(name: Name, n = 1) =>
  Id.make(
    name,
    Timestamp.toMillis(NOW),
    Uint8Array.from({ length: 10 }, (_, i) => (i === 9 ? n : 0)),
  )

export const mailbox = (text: string): Address.Mailbox => Result.getOrThrow(Address.parse(text))
export const address = (text: string): Address.Address => Result.getOrThrow(Address.parseAddress(text))
export const domainName = (text: string) => Result.getOrThrow(DomainName.parse(text))

export const ana = address("ana@example.org")
export const bob = address("bob@example.org")
export const cyd = address("cyd@example.net")

export const HASH = Sha256.make("0123456789abcdef".repeat(4))

export const command = (over: Partial<Acceptance.Command> = {}): Acceptance.Command => ({
  from: mailbox("Acme <hi@acme.test>"),
  to: [mailbox("ana@example.org")],
  cc: [],
  bcc: [],
  reply_to: [],
  subject: "Your receipt",
  headers: { "X-Order": "17" },
  tags: ["receipt"],
  scheduled_at: null,
  content: { sha256: HASH, has_html: true, has_text: true, attachments: [] },
  size_bytes: 1234,
  list_unsubscribe: false,
  resend_of: null,
  ...over,
})

export const facts = (over: Partial<Acceptance.Context> = {}): Acceptance.Context => ({
  now: NOW,
  emailId: id("EmailId"),
  messageId: Acceptance.messageIdOf(id("EmailId"), domainName("acme.test")),
  mode: "live",
  domain: { id: id("DomainId"), status: "verified" },
  key: { id: id("ApiKeyId"), domain: null },
  plan: { name: "Starter", max_recipients: 50 },
  suppressed: new Map(),
  tracks: true,
  unsent: { bytes: 0, limit: 256 * 1024 * 1024 },
  quota: { used: 0, limit: 50_000 },
  ...over,
})

/** The acceptance of a message to Ana, Bob (cc) and Cyd (bcc). */
export const toThree = (): Email.Event =>
  queued({ to: [mailbox("ana@example.org")], cc: [mailbox("bob@example.org")], bcc: [mailbox("cyd@example.net")] })

/** Decides about a message that is sent. */
export const sending = (known: Acceptance.Context, wanted: Acceptance.Command) => () => Acceptance.accept(known, wanted)

export const queued = (over: Partial<Acceptance.Command> = {}): Email.Event =>
  Result.getOrThrow(Acceptance.accept(facts(), command(over)))[0]

export const words = (over: Partial<DeliveryOutcome.ServerResponse> = {}): DeliveryOutcome.ServerResponse => ({
  code: 250,
  enhanced_code: "2.0.0",
  response: "OK queued as 9F2",
  mx: "mx1.example.org",
  tls: "TLSv1.3",
  duration_ms: 120,
  category: null,
  attempt: 1,
  ...over,
})

export const noSuchUser = (over: Partial<DeliveryOutcome.ServerResponse> = {}): DeliveryOutcome.ServerResponse =>
  words({ code: 550, enhanced_code: "5.1.1", response: "No such user", category: "invalid_recipient", ...over })

export const busy = (over: Partial<DeliveryOutcome.ServerResponse> = {}): DeliveryOutcome.ServerResponse =>
  words({ code: 451, enhanced_code: "4.3.0", response: "Try again later", category: "throttled", ...over })

/** Decides on the outcome of one recipient's attempt. */
export const outcome = (
  at: Timestamp.Timestamp,
  _tag: "Sent" | "Failed",
  recipient = ana,
  response: DeliveryOutcome.ServerResponse = words(),
) => EmailReport.record(at, [{ _tag, recipient, words: response }])

export const deferral = (
  at: Timestamp.Timestamp,
  response: DeliveryOutcome.ServerResponse = busy(),
  next_attempt_at = after(60_000),
) => EmailReport.record(at, [{ _tag: "Deferred", recipient: ana, words: response, next_attempt_at }])

export const suppression = (at: Timestamp.Timestamp) =>
  EmailReport.record(at, [{ _tag: "Suppressed", recipient: ana, reason: "manual" }])

export const lostAttempt = (at: Timestamp.Timestamp, attempt = 1) =>
  EmailReport.record(at, [{ _tag: "AttemptLost", recipient: ana, attempt }])

export const dkimKey = (selector = "wb1"): DkimKey.DkimKey => ({
  selector,
  algorithm: selector.startsWith("wbe") ? "ed25519" : "rsa",
  public_key: "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA",
  key_ref: `dkim/${selector}`,
})

/** What a new domain `acme.com` is made from. */
export const addition = (over: Partial<Domain.Addition> = {}): Domain.Addition => ({
  now: NOW,
  domainId: id("DomainId"),
  name: domainName("acme.com"),
  dkim: dkimKey(),
  transport: null,
  taken: false,
  others: 0,
  captured: false,
  ...over,
})

export const addDomain = (name = "acme.com", captured = false) =>
  Domain.add(addition({ name: domainName(name), captured }))

export const foldedDomain = (history: ReadonlyArray<Domain.Event>): DomainState.Domain => {
  const { state } = given(Domain, ...history)
  assert(state._tag === "Domain")
  return state
}
