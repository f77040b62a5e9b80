/** Request of the benchmark: an ordinary receipt with a body of usual size. */
const ROWS = Array.from(
  { length: 24 },
  (_, n) => `<tr><td>Article ${n + 1}</td><td>${n + 1} × 4.20 €</td><td>${(4.2 * (n + 1)).toFixed(2)} €</td></tr>`,
).join("")
/** Text that is replaced by a number in each message. */
export const NUMBER = "00000000"
/** Stands for one of ten thousand recipients: transactional mail goes to many, again and again. */
const RECIPIENT = "rrrr"
export const MESSAGE = {
  from: "Acme <hi@acme.test>",
  to: [`ana.${RECIPIENT}@example.org`],
  reply_to: "help@acme.test",
  subject: `Your receipt ${NUMBER}`,
  html: `<html><body><h1>Thank you</h1><p>Order ${NUMBER}</p><table>${ROWS}</table></body></html>`,
  text: `Thank you for your order ${NUMBER}. We send it tomorrow.`,
  headers: { "X-Order": NUMBER },
  tags: ["receipt", "shop"],
}
/** The same receipt as a template, and the message that is made of it. */
export const TEMPLATE = {
  name: "Receipt",
  alias: "receipt",
  subject: "Your receipt {{ number }}",
  html:
    "<html><body><h1>Thank you</h1><p>Order {{ number }}</p><table>{% for row in rows %}<tr><td>{{ row.name }}</td>" +
    "<td>{{ row.count }} × {{ row.price }} €</td><td>{{ row.total }} €</td></tr>{% endfor %}</table></body></html>",
  text: "Thank you for your order {{ number }}. We send it tomorrow.",
  variables: {
    type: "object",
    required: ["number", "rows"],
    properties: {
      number: { type: "string" },
      rows: {
        type: "array",
        items: {
          type: "object",
          required: ["name", "count", "price", "total"],
          properties: {
            name: { type: "string" },
            count: { type: "integer" },
            price: { type: "string" },
            total: { type: "string" },
          },
        },
      },
    },
  },
}
const { html: _html, subject: _subject, text: _text, ...ADDRESSED } = MESSAGE
const TEMPLATED = {
  ...ADDRESSED,
  template: {
    alias: TEMPLATE.alias,
    variables: {
      number: NUMBER,
      rows: Array.from({ length: 24 }, (_, n) => ({
        name: `Article ${n + 1}`,
        count: n + 1,
        price: "4.20",
        total: (4.2 * (n + 1)).toFixed(2),
      })),
    },
  },
}
export const BODY_BYTES = Buffer.byteLength(JSON.stringify(MESSAGE))

interface Way {
  readonly path: string
  readonly body: object
  /** Headers that end with the API key. */
  readonly header?: string
}

/** Path and body of a send at Waybill's own API, and of the same message at other services'. */
const DOORS = {
  native: { path: "/v1/email/send", body: MESSAGE },
  template: { path: "/v1/email/send", body: TEMPLATED },
  keyed: {
    path: "/v1/email/send",
    header: `Idempotency-Key: order-${NUMBER}\r\nAuthorization: Bearer `,
    body: MESSAGE,
  },
  resend: {
    path: "/compat/resend/emails",
    body: { ...MESSAGE, tags: MESSAGE.tags.map((value, nth) => ({ name: `kind${nth}`, value })) },
  },
  postmark: {
    path: "/compat/postmark/email",
    header: "X-Postmark-Server-Token: ",
    body: {
      From: MESSAGE.from,
      To: MESSAGE.to.join(),
      ReplyTo: MESSAGE.reply_to,
      Subject: MESSAGE.subject,
      HtmlBody: MESSAGE.html,
      TextBody: MESSAGE.text,
      Headers: Object.entries(MESSAGE.headers).map(([Name, Value]) => ({ Name, Value })),
      Tag: "receipt",
      Metadata: { kind: "shop" },
    },
  },
  sendgrid: {
    path: "/compat/sendgrid/v3/mail/send",
    body: {
      personalizations: [{ to: MESSAGE.to.map((email) => ({ email })), headers: MESSAGE.headers }],
      from: { email: "hi@acme.test", name: "Acme" },
      reply_to: { email: MESSAGE.reply_to },
      subject: MESSAGE.subject,
      content: [
        { type: "text/plain", value: MESSAGE.text },
        { type: "text/html", value: MESSAGE.html },
      ],
      categories: MESSAGE.tags,
    },
  },
} as const satisfies Readonly<Record<string, Way>>
export type Door = keyof typeof DOORS
export const isDoor = (name: string): name is Door => Object.hasOwn(DOORS, name)

/**
 * Returns the requests of one client as bytes. Each differs from the last in a few digits, so that no cache of equal
 * contents helps and making them costs next to nothing. Only their recipient comes again.
 */
export const requests = (key: string, client: number, door: Door): (() => Buffer) => {
  const { body: message, header = "Authorization: Bearer ", path }: Way = DOORS[door]
  const body = JSON.stringify(message)
  const bytes = Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${header}${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
  return numbered(bytes, client)
}

/** Returns the messages of one client, each with the next number in all its places. */
export const numbered = (bytes: Buffer, client: number): (() => Buffer) => {
  const places: Array<number> = []
  for (let at = bytes.indexOf(NUMBER); at >= 0; at = bytes.indexOf(NUMBER, at + 1)) places.push(at)
  const recipientAt = bytes.indexOf(RECIPIENT)
  let sent = client * PER_CLIENT
  return () => {
    const number = String(++sent).padStart(NUMBER.length, "0")
    for (const at of places) bytes.write(number, at, "latin1")
    bytes.write(number.slice(-RECIPIENT.length), recipientAt, "latin1")
    return bytes
  }
}
/** Numbers of a client: with 8 digits, enough for 333 clients. */
const PER_CLIENT = 300_000
