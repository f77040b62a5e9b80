import * as Email from "@waybill/domain/email/Email"
import * as Id from "@waybill/domain/values/Id"
import { Schema } from "effect"
import { randomBytes } from "node:crypto"

const HASH = "0".repeat(64)
let clock = 1_780_000_000_000

/** Returns a new id; ids sort in the order of the calls. */
export const id = <Name extends keyof typeof Id.PREFIXES>(name: Name) => Id.make(name, clock++, randomBytes(10))

const decode = Schema.decodeUnknownSync(Email.Event)

/** Returns the first event of a message, with the fields that a test sets and ordinary values for the rest. */
export const queued = (email_id: Id.EmailId, over: Readonly<Record<string, unknown>> = {}): Email.Event =>
  decode({
    _tag: "EmailQueued",
    email_id,
    message_id: `<${email_id}@acme.test>`,
    from: { address: "hi@acme.test", name: "Acme" },
    to: [{ address: "ana@example.org" }],
    cc: [],
    bcc: [],
    reply_to: [],
    subject: "Your receipt",
    headers: {},
    tags: ["receipt"],
    scheduled_at: null,
    domain: "acme.test",
    domain_id: id("DomainId"),
    api_key_id: null,
    content: { sha256: HASH, has_html: false, has_text: true, attachments: [] },
    size_bytes: 1200,
    resend_of: null,
    list_unsubscribe: false,
    created_at: "2026-11-21T09:00:00.000Z",
    ...over,
  })

export const opened = (at = "2026-11-21T09:05:00.000Z"): Email.Event =>
  decode({ _tag: "EmailOpened", recipient: null, user_agent: null, ip: null, at })
