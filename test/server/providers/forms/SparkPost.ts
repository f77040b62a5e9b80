import { type About, AGENT, type Forms, IP, LINK, SUBJECT, unix } from "./About.ts"

const MX = "192.0.2.25"
const UNKNOWN_USER = {
  bounce_class: "10",
  error_code: "550",
  raw_reason: "550 5.1.1 <ana@example.org>: no such user",
  reason: "550 5.1.1 ...@...: no such user",
}

const common = (about: About) => ({
  event_id: about.id,
  message_id: "0004a1b2c3d4e5f60718",
  transmission_id: about.ref,
  rcpt_to: about.to.toLowerCase(),
  raw_rcpt_to: about.to,
  rcpt_type: "to",
  rcpt_meta: {},
  rcpt_tags: [],
  timestamp: String(unix(about)),
  customer_id: "1",
  subaccount_id: "0",
  friendly_from: "hi@acme.test",
  msg_from: "bounce@acme.test",
  msg_size: "1337",
  subject: SUBJECT,
  routing_domain: about.to.replace(/^.*@/u, ""),
  ip_pool: "default",
  sending_ip: "198.51.100.7",
})

const batch = (name: string, event: object): unknown => [{ msys: { [name]: event }, cust: { id: "1" } }]

export const body = (about: About): unknown => {
  const message = { ...common(about), delv_method: "esmtp", ip_address: MX, num_retries: "0", queue_time: "812" }
  const track = { ...common(about), delv_method: "esmtp", ip_address: IP, user_agent: AGENT, geo_ip: { country: "DE" } }
  const types = {
    delivered: ["message_event", { ...message, type: "delivery" }],
    deferred: [
      "message_event",
      {
        ...message,
        type: "delay",
        bounce_class: "21",
        error_code: "454",
        raw_reason: "454 4.4.4 [internal] no MX or A for domain",
        reason: "454 4.4.4 [internal] no MX or A for domain",
        num_retries: "1",
      },
    ],
    bounced: ["message_event", { ...message, type: "bounce", ...UNKNOWN_USER }],
    complained: [
      "message_event",
      {
        ...message,
        type: "spam_complaint",
        fbtype: "abuse",
        report_by: "fbl.example.org",
        report_to: "abuse@acme.test",
        user_str: "more",
      },
    ],
    opened: ["track_event", { ...track, type: "open" }],
    clicked: ["track_event", { ...track, type: "click", target_link_name: "order", target_link_url: LINK }],
  } as const
  const [name, event] = types[about.kind]
  return batch(name, event)
}

export const forms = (about: About): Forms => {
  const recipient = about.to
  const message = (detail: object) => batch("message_event", { ...common(about), ...detail })
  const track = (type: string) =>
    batch("track_event", { ...common(about), type, ip_address: IP, user_agent: AGENT, target_link_url: LINK })
  const late = (bounce_class: string) => message({ type: "out_of_band", ...UNKNOWN_USER, bounce_class })
  const policy = {
    error_code: "554",
    raw_reason: "554 5.7.1 recipient address suppressed due to customer policy",
    reason: "554 5.7.1 recipient address suppressed due to customer policy",
  }
  const refused = [{ kind: "bounced", recipient, isHard: false, code: 554, status: "5.7.1" }] as const
  return {
    out_of_band: { body: late("10"), reads: [{ kind: "bounced", recipient, isHard: true, status: "5.1.1" }] },
    "out_of_band of an unknown class": { body: late("1"), reads: [{ kind: "bounced", isHard: false }] },
    "bounce of a full mailbox": {
      body: message({ type: "bounce", bounce_class: "22", error_code: "552", raw_reason: "552 5.2.2 full" }),
      reads: [{ kind: "bounced", isHard: false, code: 552, status: "5.2.2" }],
    },
    "block of the server": {
      body: message({
        type: "bounce",
        bounce_class: "51",
        error_code: "554",
        raw_reason: "MAIL REFUSED",
        ip_address: MX,
      }),
      reads: [{ kind: "bounced", isHard: false, code: 554, mx: MX }],
    },
    policy_rejection: {
      body: message({ type: "policy_rejection", bounce_class: "25", remote_addr: "198.51.100.9", ...policy }),
      reads: refused,
    },
    "generation_rejection, of a suppressed address": {
      body: batch("gen_event", { ...common(about), type: "generation_rejection", ...policy }),
      reads: refused,
    },
    "generation_failure, with a time in ISO 8601": {
      body: batch("gen_event", {
        ...common(about),
        type: "generation_failure",
        error_code: "554",
        raw_reason: "554 5.3.3 [internal] Error while rendering part html",
        timestamp: new Date(about.at).toISOString().replace("Z", "+00:00"),
      }),
      reads: [{ kind: "bounced", at: about.at, isHard: false, status: "5.3.3" }],
    },
    amp_open: { body: track("amp_open"), reads: [{ kind: "opened", ip: IP, userAgent: AGENT }] },
    amp_click: { body: track("amp_click"), reads: [{ kind: "clicked", url: LINK }] },
    // Each of these comes with an `open` of the same visit.
    initial_open: { body: track("initial_open"), reads: "ignored" },
    amp_initial_open: { body: track("amp_initial_open"), reads: "ignored" },
    "automatic reply": { body: late("60"), reads: "ignored" },
    "subscription by mail": { body: late("80"), reads: "ignored" },
    challenge: { body: late("100"), reads: "ignored" },
    injection: { body: message({ type: "injection" }), reads: "ignored" },
    list_unsubscribe: {
      body: batch("unsubscribe_event", { ...common(about), type: "list_unsubscribe", mailfrom: about.to }),
      reads: "ignored",
    },
    "test of the target": { body: [{ msys: {} }], reads: "ignored" },
  }
}
