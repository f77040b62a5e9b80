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
export const BODY_BYTES = Buffer.byteLength(JSON.stringify(MESSAGE))

/** Path and body of a send at Waybill's own API, and of the same message at another service's. */
const DOORS = {
  native: { path: "/v1/email/send", body: MESSAGE },
  resend: {
    path: "/compat/resend/emails",
    body: { ...MESSAGE, tags: MESSAGE.tags.map((tag) => ({ name: "kind", value: tag })) },
  },
} as const
export type Door = keyof typeof DOORS
export const isDoor = (name: string): name is Door => Object.hasOwn(DOORS, name)

/**
 * Returns the requests of one client as bytes. Each differs from the last in a few digits, so that no cache of equal
 * contents helps and making them costs next to nothing. Only their recipient comes again.
 */
export const requests = (key: string, client: number, door: Door): (() => Buffer) => {
  const { path } = DOORS[door]
  const body = JSON.stringify(DOORS[door].body)
  const bytes = Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n` +
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
const PER_CLIENT = 1_000_000
