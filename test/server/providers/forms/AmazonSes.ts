import { type About, AGENT, FROM, type Forms, IP, iso, LINK, SUBJECT, UNKNOWN } from "./About.ts"

const FEEDBACK_ID = "0102019ac1f2a3b4-5c6d7e8f-1a2b-4c3d-9e8f-70615243a2b1-000000"
/** The server of Amazon that sent the mail. */
const OWN_HOST = "a6-31.smtp-out.eu-west-1.amazonses.com"

/** The mail as a notification of an identity has it when original headers are included. */
const mail = (about: About) => ({
  timestamp: iso(about),
  source: "b-01m7@bounce.acme.test",
  sourceArn: "arn:aws:ses:eu-west-1:123456789012:identity/acme.test",
  sourceIp: "198.51.100.7",
  callerIdentity: "waybill",
  sendingAccountId: "123456789012",
  messageId: about.ref,
  destination: [about.to],
  headersTruncated: false,
  headers: [
    { name: "From", value: FROM },
    { name: "To", value: about.to },
    { name: "Subject", value: SUBJECT },
    { name: "Message-ID", value: about.messageId },
    { name: "MIME-Version", value: "1.0" },
  ],
  commonHeaders: { from: [FROM], to: [about.to], messageId: about.messageId, subject: SUBJECT },
})

/** The mail as an event of a configuration set has it: with tags, and without the address of the client. */
const published = (about: About) => {
  const { callerIdentity, sourceIp, ...rest } = mail(about)
  return {
    ...rest,
    tags: {
      "ses:configuration-set": ["waybill"],
      "ses:source-ip": [sourceIp],
      "ses:from-domain": ["acme.test"],
      "ses:caller-identity": [callerIdentity],
    },
  }
}

const bounce = (about: About) => ({
  bounceType: "Permanent",
  bounceSubType: "General",
  bouncedRecipients: [
    { emailAddress: about.to, action: "failed", status: "5.1.1", diagnosticCode: `smtp; ${UNKNOWN}` },
  ],
  timestamp: iso(about),
  feedbackId: FEEDBACK_ID,
  reportingMTA: `dns; ${OWN_HOST}`,
})

const complaint = (about: About) => ({
  complainedRecipients: [{ emailAddress: about.to }],
  timestamp: iso(about),
  feedbackId: FEEDBACK_ID,
  complaintSubType: null,
  userAgent: "Example-Feedback/2.1",
  complaintFeedbackType: "abuse",
  arrivalDate: iso(about),
})

const delivery = (about: About) => ({
  timestamp: iso(about),
  processingTimeMillis: 812,
  recipients: [about.to],
  smtpResponse: "250 2.0.0 Ok: queued as 4T1xYz",
  reportingMTA: OWN_HOST,
})

/** The message of Amazon SES about an event: three kinds as notifications of an identity, three as published events. */
export const body = (about: About): unknown => {
  const timestamp = iso(about)
  const types = {
    delivered: { notificationType: "Delivery", delivery: { ...delivery(about), remoteMtaIp: "192.0.2.25" } },
    deferred: {
      eventType: "DeliveryDelay",
      deliveryDelay: {
        timestamp,
        delayType: "TransientCommunicationFailure",
        expirationTime: new Date(about.at + 50_400_000).toISOString(),
        delayedRecipients: [
          {
            emailAddress: about.to,
            status: "4.4.1",
            diagnosticCode: "smtp; 421 4.4.1 Unable to connect to remote host",
          },
        ],
      },
    },
    bounced: { notificationType: "Bounce", bounce: { ...bounce(about), remoteMtaIp: "192.0.2.25" } },
    complained: { notificationType: "Complaint", complaint: complaint(about) },
    opened: { eventType: "Open", open: { ipAddress: IP, timestamp, userAgent: AGENT } },
    clicked: {
      eventType: "Click",
      click: { ipAddress: IP, link: LINK, linkTags: { place: ["footer"] }, timestamp, userAgent: AGENT },
    },
  }
  const type = types[about.kind]
  return { ...type, mail: "eventType" in type ? published(about) : mail(about) }
}

export const forms = (about: About): Forms => {
  const recipient = about.to
  const event = (eventType: string, detail: object) => ({ eventType, ...detail, mail: published(about) })
  const bounceOf = (detail: object) => event("Bounce", { bounce: { ...bounce(about), ...detail } })
  const suppressed = (bounceSubType: string) =>
    bounceOf({
      bounceSubType,
      reportingMTA: `dns; ${OWN_HOST}`,
      bouncedRecipients: [
        {
          emailAddress: about.to,
          action: "failed",
          status: "5.1.1",
          diagnosticCode: "Amazon SES did not send the message to this address because it is on a suppression list.",
        },
      ],
    })
  const { commonHeaders, headers, headersTruncated, ...bare } = mail(about)
  return {
    "published delivery": {
      body: event("Delivery", { delivery: delivery(about) }),
      // The reporting server is Amazon's own, not the one that took the mail.
      reads: [{ kind: "delivered", recipient, code: 250, status: "2.0.0", mx: undefined }],
    },
    "published bounce": {
      body: bounceOf({ reportingMTA: "dsn; mx.example.org" }),
      reads: [{ kind: "bounced", recipient, isHard: true, code: 550, status: "5.1.1", mx: "mx.example.org" }],
    },
    "published complaint": {
      body: event("Complaint", { complaint: complaint(about) }),
      reads: [{ kind: "complained", recipient, feedback: "abuse" }],
    },
    "complaint without a report": {
      body: event("Complaint", {
        complaint: {
          complainedRecipients: [{ emailAddress: about.to }],
          timestamp: iso(about),
          feedbackId: FEEDBACK_ID,
          complaintSubType: null,
        },
      }),
      reads: [{ kind: "complained", recipient, feedback: "abuse" }],
    },
    "notification without headers": {
      body: { notificationType: "Bounce", bounce: bounce(about), mail: bare },
      reads: [{ kind: "bounced", recipient, ref: about.ref.toLowerCase(), messageId: undefined }],
    },
    "bounce of several, one of them delayed": {
      body: bounceOf({
        bouncedRecipients: [
          { emailAddress: about.to, status: "5.0.0", action: "failed", diagnosticCode: "X-Postfix; unknown user" },
          { emailAddress: "ben@example.org", status: "4.0.0", action: "delayed" },
        ],
      }),
      reads: [
        { kind: "bounced", recipient, isHard: true, status: "5.0.0", text: "unknown user" },
        { kind: "deferred", recipient: "ben@example.org", isHard: false, status: "4.0.0" },
      ],
    },
    "bounce without a report": {
      body: bounceOf({ bouncedRecipients: [{ emailAddress: about.to }] }),
      reads: [{ kind: "bounced", recipient, isHard: true, text: undefined }],
    },
    "bounce of a full mailbox": {
      body: bounceOf({ bounceType: "Transient", bounceSubType: "MailboxFull" }),
      reads: [{ kind: "bounced", isHard: false }],
    },
    "undetermined bounce": {
      body: bounceOf({
        bounceType: "Undetermined",
        bounceSubType: "Undetermined",
        bouncedRecipients: [{ emailAddress: about.to }],
      }),
      reads: [{ kind: "bounced", isHard: false }],
    },
    "address on the account's list": {
      body: suppressed("OnAccountSuppressionList"),
      reads: [{ kind: "bounced", isHard: false }],
    },
    "address on the tenant's list": {
      body: suppressed("OnTenantSuppressionList"),
      reads: [{ kind: "bounced", isHard: false }],
    },
    "address that Amazon's validation refuses": {
      body: suppressed("EmailValidationSuppressed"),
      reads: [{ kind: "bounced", isHard: false }],
    },
    "contact that unsubscribed": {
      body: suppressed("UnsubscribedRecipient"),
      reads: [{ kind: "bounced", isHard: false }],
    },
    "address on Amazon's list": { body: suppressed("Suppressed"), reads: [{ kind: "bounced", isHard: false }] },
    "complaint of an earlier mail": {
      body: event("Complaint", { complaint: { ...complaint(about), complaintSubType: "OnAccountSuppressionList" } }),
      reads: [{ kind: "bounced", recipient, isHard: false, feedback: undefined }],
    },
    reject: {
      body: event("Reject", { reject: { reason: "Bad content" } }),
      reads: [{ kind: "bounced", recipient, isHard: false, text: "Bad content", at: about.at }],
    },
    "rendering failure": {
      body: event("Rendering Failure", {
        failure: { errorMessage: "Attribute 'name' is not present", templateName: "t" },
      }),
      reads: [{ kind: "bounced", recipient, isHard: false, text: "Attribute 'name' is not present" }],
    },
    send: { body: event("Send", { send: {} }), reads: "ignored" },
    subscription: {
      body: event("Subscription", {
        subscription: { contactList: "news", timestamp: iso(about), source: "UnsubscribeHeader" },
      }),
      reads: "ignored",
    },
    "set up of a topic": {
      body: {
        notificationType: "AmazonSnsSubscriptionSucceeded",
        message: "You have successfully subscribed your Amazon SNS topic to receive 'Bounce' notifications.",
      },
      reads: "ignored",
    },
  }
}
