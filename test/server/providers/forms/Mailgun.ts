import { type About, AGENT, FROM, type Forms, IP, LINK, SUBJECT, unix } from "./About.ts"

const CLIENT = {
  "client-name": "Safari",
  "client-os": "OS X",
  "client-type": "browser",
  "device-type": "desktop",
  "user-agent": AGENT,
  bot: null,
}
const GEOLOCATION = { city: "Unknown", country: "DE", region: "Unknown", timezone: "Europe/Berlin" }
const STORAGE = {
  key: "BAABAgXk",
  url: "https://storage-europe-west1.api.mailgun.net/v3/domains/acme.test/messages/BAABAgXk",
}

/** The parts of `delivery-status` after an attempt at a server. */
const attempt = {
  "attempt-no": 1,
  description: null,
  "session-seconds": 0.42,
  "mx-host": "mx.example.org",
  "certificate-verified": true,
  tls: true,
  utf8: true,
  "first-delivery-attempt-seconds": 0.05,
}

const HARD = {
  ...attempt,
  code: 550,
  message: "5.1.1 no such user. Look for a typo in\n5.1.1 the address",
  "enhanced-code": "5.1.1",
  "bounce-type": "hard",
}

const common = (about: About) => ({
  id: about.id,
  timestamp: unix(about),
  recipient: about.to,
  "recipient-domain": about.to.replace(/^.*@/u, ""),
  "recipient-provider": "Other",
  account: { id: "64f0c0ffee64f0c0ffee64f0" },
  domain: { name: "acme.test" },
  campaigns: [],
  tags: [],
  "user-variables": [],
})

/** An event of the delivery. */
const sent = (about: About) => ({
  ...common(about),
  "log-level": "info",
  flags: {
    "is-authenticated": true,
    "is-routed": false,
    "is-big": false,
    "is-system-test": false,
    "is-test-mode": false,
  },
  "primary-dkim": "s1._domainkey.acme.test",
  envelope: { sender: "bounce@acme.test", targets: about.to, transport: "smtp", "sending-ip": "198.51.100.7" },
  storage: STORAGE,
  message: {
    attachments: [],
    headers: { to: about.to, "message-id": about.messageId.replace(/[<>]/gu, ""), from: FROM, subject: SUBJECT },
    size: 341,
  },
})

/** An event of what the recipient did: of the message's headers it has the id only. */
const read = (about: About) => ({
  ...common(about),
  "log-level": "info",
  message: { headers: { "message-id": about.messageId.replace(/[<>]/gu, "") } },
  "delivered-at": Math.floor(unix(about)) - 60,
  ip: IP,
  "client-info": CLIENT,
  geolocation: GEOLOCATION,
})

export const body = (about: About): unknown => {
  const types = {
    delivered: {
      ...sent(about),
      event: "delivered",
      "delivery-status": { ...attempt, code: 250, message: "OK", "enhanced-code": null },
    },
    deferred: {
      ...sent(about),
      event: "failed",
      severity: "temporary",
      reason: "generic",
      "log-level": "warn",
      "delivery-status": {
        ...attempt,
        code: 421,
        message: "try again later",
        "enhanced-code": null,
        "retry-seconds": 600,
      },
    },
    bounced: {
      ...sent(about),
      event: "failed",
      severity: "permanent",
      reason: "bounce",
      "log-level": "error",
      "delivery-status": HARD,
    },
    complained: {
      ...sent(about),
      event: "complained",
      "log-level": "warn",
      envelope: { "sending-ip": "198.51.100.7" },
    },
    opened: { ...read(about), event: "opened" },
    clicked: { ...read(about), event: "clicked", url: LINK },
  }
  return { "event-data": types[about.kind] }
}

export const forms = (about: About): Forms => {
  const failed = (reason: string, status: object) => ({
    "event-data": {
      ...sent(about),
      event: "failed",
      severity: "permanent",
      reason,
      "log-level": "error",
      "delivery-status": status,
    },
  })
  const suppressed = (code: number, message: string) => ({ "attempt-no": 0, code, message, description: "" })
  const event = (data: object) => ({ "event-data": { ...read(about), ...data } })
  return {
    "permanent failure that is no hard bounce": {
      body: failed("generic", {
        ...HARD,
        code: 554,
        message: "5.7.1 rejected by policy",
        "enhanced-code": "5.7.1",
        "bounce-type": "soft",
      }),
      reads: [{ kind: "bounced", isHard: false, code: 554, status: "5.7.1", mx: "mx.example.org" }],
    },
    "soft bounce": {
      body: failed("bounce", {
        ...HARD,
        code: 552,
        message: "5.2.2 over quota",
        "enhanced-code": "5.2.2",
        "bounce-type": "soft",
      }),
      reads: [{ kind: "bounced", isHard: false, status: "5.2.2" }],
    },
    "retries at their end": {
      body: failed("old", { "attempt-no": 8, code: 498, message: "Too old", description: "", "session-seconds": 0 }),
      reads: [{ kind: "bounced", isHard: false, text: "Too old", mx: undefined }],
    },
    "address that bounced before": {
      body: failed("suppress-bounce", suppressed(605, "Not delivering to previously bounced address")),
      reads: [{ kind: "bounced", isHard: false, code: undefined }],
    },
    "address that complained before": {
      body: failed("suppress-complaint", suppressed(607, "Not delivering to a user who marked your messages as spam")),
      reads: [{ kind: "bounced", isHard: false, code: undefined }],
    },
    "address that unsubscribed before": {
      body: failed("suppress-unsubscribe", suppressed(606, "Not delivering to unsubscribed address")),
      reads: [{ kind: "bounced", isHard: false, code: undefined }],
    },
    accepted: { body: event({ event: "accepted", method: "SMTP" }), reads: "ignored" },
    unsubscribed: { body: event({ event: "unsubscribed", tags: ["*"], storage: [] }), reads: "ignored" },
  }
}
