import type { Provider } from "../../../apps/server/src/providers/formats/ProviderEvent.ts"
import { createHmac, createSign, generateKeyPairSync } from "node:crypto"
import { readFileSync } from "node:fs"

const tls = (name: string) => readFileSync(new URL(`../../fixtures/tls/${name}`, import.meta.url), "utf8")
export const SNS = { key: tls("sns.key"), cert: tls("sns.pem"), ca: tls("sns-ca.pem") }
export const SNS_HOST = "sns.us-east-1.amazonaws.com"
export const TOPIC = "arn:aws:sns:us-east-1:123456789012:waybill"

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" })
export const SENDGRID_KEY = publicKey.export({ format: "der", type: "spki" }).toString("base64")
export const MAILGUN_KEY = "key-3ax6xnjp29jd6fds4gc373sgvjxteol0"
export const RESEND_SECRET = `whsec_${Buffer.from("a signing secret of a test, 32 b").toString("base64")}`

/** What an event is about. */
export interface About {
  readonly kind: "delivered" | "deferred" | "bounced" | "complained" | "opened" | "clicked"
  readonly to: string
  /** Our Message-ID. */
  readonly messageId: string
  /** The provider's id of the message. */
  readonly ref: string
  /** Names the event. */
  readonly id: string
  readonly at: number
}

const iso = ({ at }: About) => new Date(at).toISOString()
const unix = ({ at }: About) => at / 1000
const AGENT = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.6; rv:12.0) Gecko/20100101 Firefox/12.0"
const LINK = "https://shop.test/o?id=7"
const UNKNOWN = "smtp; 550 5.1.1 The email account that you tried to reach does not exist"

/** The message of Amazon SES about an event, as its documentation has them. */
const ses = (about: About) => {
  const timestamp = iso(about)
  const recipient = { emailAddress: about.to }
  const types = {
    delivered: {
      notificationType: "Delivery",
      delivery: {
        timestamp,
        recipients: [about.to],
        smtpResponse: "250 ok:  Message 64111812 accepted",
        reportingMTA: "a8-70.smtp-out.amazonses.com",
        processingTimeMillis: 546,
      },
    },
    deferred: {
      eventType: "DeliveryDelay",
      deliveryDelay: {
        timestamp,
        delayType: "TransientCommunicationFailure",
        delayedRecipients: [
          { ...recipient, status: "4.4.1", diagnosticCode: "smtp; 421 4.4.1 Unable to connect to remote host" },
        ],
      },
    },
    bounced: {
      notificationType: "Bounce",
      bounce: {
        bounceType: "Permanent",
        bounceSubType: "General",
        reportingMTA: "dns; email.example.com",
        bouncedRecipients: [{ ...recipient, action: "failed", status: "5.1.1", diagnosticCode: UNKNOWN }],
        timestamp,
        feedbackId: "00000138111222aa-33322211-cccc-cccc-cccc-ddddaaaa068a-000000",
      },
    },
    complained: {
      notificationType: "Complaint",
      complaint: {
        userAgent: "AnyCompany Feedback Loop (V0.01)",
        complainedRecipients: [recipient],
        complaintFeedbackType: "abuse",
        timestamp,
        feedbackId: "000001378603177f-18c07c78-fa81-4a58-9dd1-fedc3cb8f49a-000000",
      },
    },
    opened: { eventType: "Open", open: { ipAddress: "192.0.2.1", timestamp, userAgent: AGENT } },
    clicked: {
      eventType: "Click",
      click: { ipAddress: "192.0.2.1", link: LINK, linkTags: null, timestamp, userAgent: AGENT },
    },
  }
  return {
    ...types[about.kind],
    mail: {
      timestamp,
      source: "hi@acme.test",
      messageId: about.ref,
      destination: [about.to],
      headersTruncated: false,
      headers: [
        { name: "From", value: "Acme <hi@acme.test>" },
        { name: "Message-ID", value: about.messageId },
      ],
    },
  }
}

const postmark = (about: About) => {
  const common = { MessageID: about.ref, ServerID: 23, MessageStream: "outbound", Tag: "", Metadata: {} }
  const bounce = {
    ...common,
    ID: 4323372036854776,
    Email: about.to,
    From: "hi@acme.test",
    BouncedAt: iso(about),
    Inactive: true,
    DumpAvailable: true,
    CanActivate: true,
    Subject: "Hello",
  }
  const visit = { ...common, Recipient: about.to, ReceivedAt: iso(about), UserAgent: AGENT, Geo: { IP: "192.0.2.1" } }
  const types = {
    delivered: {
      ...common,
      RecordType: "Delivery",
      Recipient: about.to,
      DeliveredAt: iso(about),
      Details: "Message delivered: 250 OK",
    },
    deferred: { ...bounce, RecordType: "Bounce", Type: "Transient", TypeCode: 2, Details: "421 try later" },
    bounced: {
      ...bounce,
      RecordType: "Bounce",
      Type: "HardBounce",
      TypeCode: 1,
      Description: "The server was unable to deliver your message.",
      Details: UNKNOWN,
    },
    complained: { ...bounce, RecordType: "SpamComplaint", Type: "SpamComplaint", TypeCode: 100001, Details: "" },
    opened: { ...visit, RecordType: "Open", FirstOpen: true },
    clicked: { ...visit, RecordType: "Click", OriginalLink: LINK, ClickLocation: "HTML" },
  }
  return types[about.kind]
}

const mailgun = (about: About) => {
  const types = {
    delivered: {
      event: "delivered",
      "delivery-status": { code: 250, message: "OK", "mx-host": "smtp-in.example.com", "attempt-no": 1 },
    },
    deferred: {
      event: "failed",
      severity: "temporary",
      reason: "generic",
      "delivery-status": { code: 421, message: "4.7.0 try again" },
    },
    bounced: {
      event: "failed",
      severity: "permanent",
      reason: "bounce",
      "delivery-status": { code: 550, message: "5.1.1 no such user", "enhanced-code": "5.1.1" },
    },
    complained: { event: "complained" },
    opened: { event: "opened", ip: "192.0.2.1", "client-info": { "user-agent": AGENT } },
    clicked: { event: "clicked", url: LINK, ip: "192.0.2.1", "client-info": { "user-agent": AGENT } },
  }
  return {
    "event-data": {
      id: about.id,
      timestamp: unix(about),
      "log-level": "info",
      recipient: about.to,
      message: { headers: { to: about.to, "message-id": about.messageId.replace(/[<>]/gu, ""), from: "hi@acme.test" } },
      ...types[about.kind],
    },
  }
}

const sendgrid = (about: About) => {
  const types = {
    delivered: { event: "delivered", response: "250 OK" },
    deferred: { event: "deferred", response: "400 try again later", attempt: "5" },
    bounced: { event: "bounce", type: "bounce", reason: "550 5.1.1 The email account does not exist", status: "5.1.1" },
    complained: { event: "spamreport" },
    opened: { event: "open", useragent: AGENT, ip: "192.0.2.1", sg_machine_open: false },
    clicked: { event: "click", url: LINK, useragent: AGENT, ip: "192.0.2.1" },
  }
  return [
    {
      email: about.to,
      timestamp: Math.floor(unix(about)),
      "smtp-id": about.messageId,
      sg_event_id: about.id,
      sg_message_id: `${about.ref}.filterdrecv-p3mdw1-756b745b58-kmzbl-18-5F5FC76C-9.0`,
      category: ["cat facts"],
      ...types[about.kind],
    },
  ]
}

const sparkpost = (about: About) => {
  const track = { user_agent: AGENT, ip_address: "192.0.2.1" }
  const types = {
    delivered: { message_event: { type: "delivery", queue_time: "12" } },
    deferred: {
      message_event: { type: "delay", error_code: "454", raw_reason: "454 4.4.4 try again", bounce_class: "21" },
    },
    bounced: {
      message_event: { type: "bounce", bounce_class: "10", error_code: "550", raw_reason: "550 5.1.1 no such user" },
    },
    complained: { message_event: { type: "spam_complaint", fbtype: "abuse", report_by: "server.email.com" } },
    opened: { track_event: { type: "open", ...track } },
    clicked: { track_event: { type: "click", target_link_url: LINK, ...track } },
  }
  const common = {
    event_id: about.id,
    message_id: "000443ee14578172be22",
    transmission_id: about.ref,
    rcpt_to: about.to,
    raw_rcpt_to: about.to,
    timestamp: String(unix(about)),
    customer_id: "1",
  }
  return [
    {
      msys: Object.fromEntries(Object.entries(types[about.kind]).map(([name, each]) => [name, { ...common, ...each }])),
    },
  ]
}

const resend = (about: About) => {
  const types = {
    delivered: { type: "email.delivered" },
    deferred: { type: "email.delivery_delayed" },
    bounced: {
      type: "email.bounced",
      data: { bounce: { message: "550 5.1.1 the recipient does not exist", type: "Permanent", subType: "General" } },
    },
    complained: { type: "email.complained" },
    opened: { type: "email.opened" },
    clicked: {
      type: "email.clicked",
      data: { click: { ipAddress: "192.0.2.1", link: LINK, timestamp: iso(about), userAgent: AGENT } },
    },
  }
  const of: { readonly type: string; readonly data?: object } = types[about.kind]
  return {
    type: of.type,
    created_at: iso(about),
    data: { email_id: about.ref, from: "Acme <hi@acme.test>", to: [about.to], subject: "Hello", ...of.data },
  }
}

/** The documented body of a call about an event, without the parts that prove it. */
export const BODIES: { readonly [P in Provider]: (about: About) => unknown } = {
  ses,
  postmark,
  mailgun,
  sendgrid,
  sparkpost,
  resend,
}

export interface SignedCall {
  readonly raw: string
  readonly headers: Readonly<Record<string, string>>
}

/** A notification of Amazon SNS, signed with the key of the test's authority. */
export const notification = (fields: Readonly<Record<string, string>>, at: number): string => {
  const all = {
    MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
    TopicArn: TOPIC,
    Timestamp: new Date(at).toISOString(),
    ...fields,
  }
  const names = Object.keys(all).sort()
  const text = names.map((name) => `${name}\n${all[name as keyof typeof all]}\n`).join("")
  const Signature = createSign("RSA-SHA256").update(text).sign(SNS.key, "base64")
  return JSON.stringify({
    ...all,
    SignatureVersion: "2",
    Signature,
    SigningCertURL: `https://${SNS_HOST}/SimpleNotificationService-test.pem`,
  })
}

/** Signs a body as the provider does, at a time. */
export const SIGNERS: { readonly [P in Provider]: (body: unknown, at: number, secret?: string) => SignedCall } = {
  ses: (body, at) => ({
    raw: notification({ Type: "Notification", Message: JSON.stringify(body) }, at),
    headers: { "content-type": "text/plain; charset=UTF-8" },
  }),
  postmark: (body, _, secret = "") => ({
    raw: JSON.stringify(body),
    headers: { authorization: `Basic ${Buffer.from(secret).toString("base64")}` },
  }),
  sparkpost: (body, _, secret = "") => ({
    raw: JSON.stringify(body),
    headers: { authorization: `Basic ${Buffer.from(secret).toString("base64")}` },
  }),
  mailgun: (body, at) => {
    const [timestamp, token] = [String(Math.floor(at / 1000)), "ae4dbe3a2f1c4bd6c4bb1a3f4d4f8a9d"]
    const signature = createHmac("sha256", MAILGUN_KEY)
      .update(timestamp + token)
      .digest("hex")
    return { raw: JSON.stringify({ signature: { token, timestamp, signature }, ...(body as object) }), headers: {} }
  },
  sendgrid: (body, at) => {
    const timestamp = String(Math.floor(at / 1000))
    const raw = JSON.stringify(body)
    const signature = createSign("sha256")
      .update(timestamp + raw)
      .sign(privateKey, "base64")
    return {
      raw,
      headers: {
        "x-twilio-email-event-webhook-signature": signature,
        "x-twilio-email-event-webhook-timestamp": timestamp,
      },
    }
  },
  resend: (body, at) => {
    const [id, timestamp] = ["msg_2Lh9KRb0pzN4LePd3XiA4v12Axj", String(Math.floor(at / 1000))]
    const raw = JSON.stringify(body)
    const key = Buffer.from(RESEND_SECRET.slice("whsec_".length), "base64")
    const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${raw}`).digest("base64")
    return {
      raw,
      headers: { "svix-id": id, "svix-timestamp": timestamp, "svix-signature": `v1,bm9uZQ== v1,${signature}` },
    }
  },
}
