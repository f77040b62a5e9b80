import { createHmac, createSign, generateKeyPairSync, randomBytes } from "node:crypto"
import type { Provider } from "../../../apps/server/src/providers/formats/ProviderEvent.ts"
import * as Authority from "./authority.ts"
import type { About, Forms } from "./forms/About.ts"
import * as AmazonSes from "./forms/AmazonSes.ts"
import * as Mailgun from "./forms/Mailgun.ts"
import * as Postmark from "./forms/Postmark.ts"
import * as Resend from "./forms/Resend.ts"
import * as SendGrid from "./forms/SendGrid.ts"
import * as SparkPost from "./forms/SparkPost.ts"

export type { About }

export const SNS_HOST = "sns.us-east-1.amazonaws.com"
const ROOT = Authority.issue({ name: "Root of a test", isAuthority: true })
export const ISSUER_HOST = "crt.test01.amazontrust.com"
export const ISSUER_URL = `http://${ISSUER_HOST}/test01.cer`
/** Authorities in the place of Amazon's, and a certificate as Amazon SNS has it. */
export const SNS = {
  root: ROOT,
  issuer: Authority.issue({ name: "Issuer of a test", isAuthority: true, issuer: ROOT }),
  leaf: (wanted: Partial<Authority.Wanted> = {}) =>
    Authority.issue({
      name: "sns.amazonaws.com",
      names: ["sns.amazonaws.com", SNS_HOST],
      issuer: SNS.issuer,
      issuerUrl: ISSUER_URL,
      ...wanted,
    }),
}
export const SNS_LEAF = SNS.leaf()
export const TOPIC = "arn:aws:sns:us-east-1:123456789012:waybill"

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" })
export const SENDGRID_KEY = publicKey.export({ format: "der", type: "spki" }).toString("base64")
export const MAILGUN_KEY = "key-3ax6xnjp29jd6fds4gc373sgvjxteol0"
export const RESEND_SECRET = `whsec_${Buffer.from("a signing secret of a test, 32 b").toString("base64")}`

/** The body of a call about an event as the provider documents it, without the parts that prove it. */
export const BODIES: { readonly [P in Provider]: (about: About) => unknown } = {
  ses: AmazonSes.body,
  postmark: Postmark.body,
  mailgun: Mailgun.body,
  sendgrid: SendGrid.body,
  sparkpost: SparkPost.body,
  resend: Resend.body,
}

/** The other forms that the provider documents. */
export const FORMS: { readonly [P in Provider]: (about: About) => Forms } = {
  ses: AmazonSes.forms,
  postmark: Postmark.forms,
  mailgun: Mailgun.forms,
  sendgrid: SendGrid.forms,
  sparkpost: SparkPost.forms,
  resend: Resend.forms,
}

export interface SignedCall {
  readonly raw: string
  readonly headers: Readonly<Record<string, string>>
}

/** A notification of Amazon SNS, signed with the key of the test's authority. */
export const notification = (
  fields: Readonly<Record<string, string>>,
  at: number,
  { key = SNS_LEAF.privateKey, url = `https://${SNS_HOST}/SimpleNotificationService-test.pem` } = {},
): string => {
  const all = {
    MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
    TopicArn: TOPIC,
    Timestamp: new Date(at).toISOString(),
    ...fields,
  }
  const names = Object.keys(all).sort()
  const text = names.map((name) => `${name}\n${all[name as keyof typeof all]}\n`).join("")
  const Signature = createSign("RSA-SHA256").update(text).sign(key, "base64")
  return JSON.stringify({
    ...all,
    SignatureVersion: "2",
    Signature,
    SigningCertURL: url,
    // Not among the fields that are signed.
    ...(fields["Type"] === "Notification"
      ? { UnsubscribeURL: `https://${SNS_HOST}/?Action=Unsubscribe&SubscriptionArn=${TOPIC}:c9135db0` }
      : {}),
  })
}

/** Signs a body as the provider does, at a time. */
export const SIGNERS: { readonly [P in Provider]: (body: unknown, at: number, secret?: string) => SignedCall } = {
  ses: (body, at) => ({
    // As for an event of a configuration set, which has a subject and ends with a line feed.
    raw: notification(
      { Type: "Notification", Subject: "Amazon SES Email Event Notification", Message: `${JSON.stringify(body)}\n` },
      at,
    ),
    headers: { "content-type": "text/plain; charset=UTF-8", "x-amz-sns-message-type": "Notification" },
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
    const [timestamp, token] = [String(Math.floor(at / 1000)), randomBytes(25).toString("hex")]
    const signature = createHmac("sha256", MAILGUN_KEY)
      .update(timestamp + token)
      .digest("hex")
    return { raw: JSON.stringify({ signature: { token, timestamp, signature }, ...(body as object) }), headers: {} }
  },
  sendgrid: (body, at) => {
    const timestamp = String(Math.floor(at / 1000))
    // The line ends that SendGrid writes are signed too.
    const raw = `${JSON.stringify(body).replaceAll("},{", "},\r\n{")}\r\n`
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
