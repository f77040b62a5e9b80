/** Request of the benchmark: an ordinary receipt with a body of usual size. */
const ROWS = Array.from(
  { length: 24 },
  (_, n) => `<tr><td>Article ${n + 1}</td><td>${n + 1} × 4.20 €</td><td>${(4.2 * (n + 1)).toFixed(2)} €</td></tr>`,
).join("")
const NUMBER = "00000000"
const MESSAGE = {
  from: "Acme <hi@acme.test>",
  to: ["ana@example.org"],
  reply_to: "help@acme.test",
  subject: `Your receipt ${NUMBER}`,
  html: `<html><body><h1>Thank you</h1><p>Order ${NUMBER}</p><table>${ROWS}</table></body></html>`,
  text: `Thank you for your order ${NUMBER}. We send it tomorrow.`,
  headers: { "X-Order": NUMBER },
  tags: ["receipt", "shop"],
}
export const BODY_BYTES = Buffer.byteLength(JSON.stringify(MESSAGE))

/**
 * Returns the requests of one client as bytes. Each differs from the last in a few digits, so that no cache of equal
 * contents helps and making them costs next to nothing.
 */
export const requests = (key: string, client: number): (() => Buffer) => {
  const body = JSON.stringify(MESSAGE)
  const bytes = Buffer.from(
    `POST /v1/email/send HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${BODY_BYTES}\r\n\r\n${body}`,
  )
  const places: Array<number> = []
  for (let at = bytes.indexOf(NUMBER); at >= 0; at = bytes.indexOf(NUMBER, at + 1)) places.push(at)
  let sent = client * PER_CLIENT
  return () => {
    const number = String(++sent).padStart(NUMBER.length, "0")
    for (const at of places) bytes.write(number, at, "latin1")
    return bytes
  }
}
const PER_CLIENT = 1_000_000
