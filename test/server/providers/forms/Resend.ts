import { type About, AGENT, FROM, type Forms, IP, iso, LINK, SUBJECT, UNKNOWN } from "./About.ts"

const data = (about: About) => ({
  broadcast_id: "8b146471-e88e-4322-86af-016cd36fd216",
  created_at: new Date(about.at - 1000).toISOString().replace("Z", "000+00:00"),
  email_id: about.ref,
  message_id: "<0102019ac1f2a3b4-5c6d7e8f@eu-west-1.amazonses.com>",
  from: FROM,
  to: [about.to],
  subject: SUBJECT,
  template_id: "43f68331-0622-4e15-8202-246a0388854b",
  tags: { category: "receipt" },
})

const event = (about: About, type: string, detail: object = {}): unknown => ({
  type,
  created_at: iso(about),
  data: { ...data(about), ...detail },
})

const HARD = {
  message: "The recipient's server said that the address does not exist.",
  type: "Permanent",
  subType: "General",
  diagnosticCode: [`smtp; ${UNKNOWN}`],
}

export const body = (about: About): unknown => {
  const click = { ipAddress: IP, link: LINK, timestamp: iso(about), userAgent: AGENT }
  const types = {
    delivered: event(about, "email.delivered"),
    deferred: event(about, "email.delivery_delayed"),
    bounced: event(about, "email.bounced", { bounce: HARD }),
    complained: event(about, "email.complained"),
    opened: event(about, "email.opened"),
    clicked: event(about, "email.clicked", { click }),
  }
  return types[about.kind]
}

export const forms = (about: About): Forms => {
  const recipient = about.to
  const bounced = (bounce: object) => event(about, "email.bounced", { bounce })
  const SUPPRESSED = "The address is on the suppression list because it bounced or complained before."
  return {
    "bounce without a server's answer": {
      body: bounced({ message: "The mailbox is full.", type: "Transient", subType: "MailboxFull" }),
      reads: [{ kind: "bounced", recipient, isHard: false, text: "The mailbox is full.", code: undefined }],
    },
    "bounce of a suppressed address": {
      body: bounced({ message: SUPPRESSED, type: "Permanent", subType: "Suppressed" }),
      reads: [{ kind: "bounced", isHard: false, text: SUPPRESSED }],
    },
    "bounce of an address on the account's list": {
      body: bounced({ message: SUPPRESSED, type: "Permanent", subType: "OnAccountSuppressionList" }),
      reads: [{ kind: "bounced", isHard: false }],
    },
    "email.suppressed": {
      body: event(about, "email.suppressed", { suppressed: { message: SUPPRESSED, type: "OnAccountSuppressionList" } }),
      reads: [{ kind: "bounced", recipient, isHard: false, text: SUPPRESSED }],
    },
    "email.failed": {
      body: event(about, "email.failed", { failed: { reason: "reached_daily_quota" } }),
      reads: [{ kind: "bounced", recipient, isHard: false, text: "reached_daily_quota" }],
    },
    "recipient with a name": {
      body: event(about, "email.delivered", { to: [`"Ana, of Acme" <${about.to}>`] }),
      reads: [{ kind: "delivered", recipient }],
    },
    // The event is about one of them, and does not say which.
    "several recipients": {
      body: event(about, "email.bounced", { to: [about.to, "ben@example.org"], bounce: HARD }),
      reads: [{ kind: "bounced", recipient: undefined }],
    },
    "email.sent": { body: event(about, "email.sent"), reads: "ignored" },
    "email.scheduled": { body: event(about, "email.scheduled"), reads: "ignored" },
    "email.received": { body: event(about, "email.received", { cc: [], bcc: [], attachments: [] }), reads: "ignored" },
    "contact.created": {
      body: { type: "contact.created", created_at: iso(about), data: { id: "e169aa45", email: about.to } },
      reads: "ignored",
    },
    "suppression.added": {
      body: {
        type: "suppression.added",
        created_at: iso(about),
        data: { id: "e169aa45", email: about.to, origin: "bounce", source_id: about.ref, created_at: iso(about) },
      },
      reads: "ignored",
    },
  }
}
