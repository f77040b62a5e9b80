import { type About, AGENT, type Forms, IP, LINK, UNKNOWN, unix } from "./About.ts"

const common = (about: About) => ({
  email: about.to,
  timestamp: Math.floor(unix(about)),
  "smtp-id": about.messageId,
  sg_event_id: about.id,
  sg_message_id: `${about.ref}.recvd-68f7bc7d58-2x9qk-1-6924A1C0-1F.0`,
  category: ["receipts"],
})

/** An event of what the recipient did names the provider's id only. */
const read = (about: About) => {
  const { "smtp-id": _, ...rest } = common(about)
  return { ...rest, useragent: AGENT, ip: IP, sg_content_type: "html" }
}

export const body = (about: About): unknown => {
  const types = {
    delivered: {
      ...common(about),
      event: "delivered",
      ip: "198.51.100.7",
      tls: 1,
      response: "250 2.0.0 OK 1763942400 - mx.example.org",
    },
    deferred: { ...common(about), event: "deferred", attempt: "5", response: "421 4.7.0 try again later" },
    bounced: {
      ...common(about),
      event: "bounce",
      type: "bounce",
      bounce_classification: "Invalid Address",
      ip: "198.51.100.7",
      tls: 1,
      reason: UNKNOWN,
      status: "5.1.1",
    },
    complained: { ...common(about), event: "spamreport" },
    opened: { ...read(about), event: "open", sg_machine_open: false },
    clicked: { ...read(about), event: "click", url: LINK, url_offset: { index: 0, type: "html" } },
  }
  return [types[about.kind]]
}

export const forms = (about: About): Forms => {
  const recipient = about.to
  const event = (detail: object) => [{ ...common(about), ...detail }]
  const dropped = (reason: string) => ({
    body: event({ event: "dropped", reason, status: "5.0.0" }),
    reads: [{ kind: "bounced", recipient, isHard: false, text: reason }] as const,
  })
  const named = (sg_message_id: string, ref: string) => ({
    body: event({ event: "delivered", response: "250 OK", sg_message_id, category: "receipts" }),
    reads: [{ kind: "delivered", ref }] as const,
  })
  return {
    blocked: {
      body: event({
        event: "bounce",
        type: "blocked",
        bounce_classification: "Reputation",
        reason: "554 5.7.1 Service unavailable; client host is listed",
        status: "5.7.1",
      }),
      reads: [{ kind: "bounced", isHard: false, code: 554, status: "5.7.1" }],
    },
    "dropped after a bounce": dropped("Bounced Address"),
    "dropped after a complaint": dropped("Spam Reporting Address"),
    "dropped after an unsubscription": dropped("Unsubscribed Address"),
    "dropped for its content": dropped("Spam Content"),
    "deferred without a server's answer": {
      body: event({
        event: "deferred",
        attempt: "1",
        response: "Email was deferred due to the following reason(s): [IPs were throttled by recipient server]",
      }),
      reads: [{ kind: "deferred", recipient, code: undefined, status: undefined }],
    },
    "id of today": named("pR2xQk0ZTyu9vB1nWmE4sA.recvd-68f7bc7d58-2x9qk-1-6924A1C0-1F.0", "pr2xqk0ztyu9vb1nwme4sa"),
    "id of some years ago": named(
      "pR2xQk0ZTyu9vB1nWmE4sA.filterdrecv-p3iad2-5f-7k-20-5F5FC76C-9.0",
      "pr2xqk0ztyu9vb1nwme4sa",
    ),
    "id of the first form, with dots": named(
      "15d6e84fda4.efe.75c57a.filter0003.17759.6626F1CA1.0",
      "15d6e84fda4.efe.75c57a",
    ),
    "id alone": named("pR2xQk0ZTyu9vB1nWmE4sA", "pr2xqk0ztyu9vb1nwme4sa"),
    "several at once": {
      body: [
        ...event({ event: "processed", send_at: 0 }),
        ...event({ event: "delivered", response: "250 OK" }),
        ...event({ event: "open", useragent: AGENT, ip: IP, sg_machine_open: true }),
      ],
      reads: [{ kind: "delivered" }, { kind: "opened" }],
    },
    unsubscribe: { body: event({ event: "unsubscribe" }), reads: "ignored" },
    group_unsubscribe: { body: event({ event: "group_unsubscribe", asm_group_id: 10, url: LINK }), reads: "ignored" },
    group_resubscribe: { body: event({ event: "group_resubscribe", asm_group_id: 10 }), reads: "ignored" },
  }
}
