import { vi } from "vitest"
import type { House } from "./Service.ts"

const MAIL: ReadonlyArray<readonly [to: string, subject: string, tag: string]> = [
  ["ana@example.org", "Your order has shipped", "orders"],
  ["bo.larsen@example.net", "Reset your password", "auth"],
  ["carla@studio.example", "Welcome to Acme", "onboarding"],
  ["emil@example.org", "Your receipt", "billing"],
  ["bounced@customers.test", "Your trial ends in 3 days", "billing"],
  ["fay@example.net", "New sign-in from Lisbon", "security"],
  ["deferred@customers.test", "Weekly report", "reports"],
  ["gus@example.com", "Invoice 2026-0117", "billing"],
  ["hana@example.org", "Ana invited you to the team “Design”", "team"],
  ["complained@customers.test", "What is new in November", "news"],
  ["ivo@example.net", "Confirm your address", "auth"],
]

const html = (subject: string): string =>
  `<div style="font-family:sans-serif;color:#222"><h1>${subject}</h1><p>Hello, thank you for being with us.</p>` +
  `<p><a href="https://acme.test/orders/1042">See it</a></p></div>`

/** An account that has been at work: mail of every fate, a domain on its way, a webhook that nobody answers. */
export const furnish = async ({ ask }: House): Promise<void> => {
  const made = async (path: string, body: unknown) => {
    const { json, status } = await ask("POST", path, body)
    if (status >= 300) throw new Error(`${path}: ${JSON.stringify(json)}`)
    return json
  }
  await made("/domains", { name: "mail.shop.dev" })
  await made("/domains/mail.shop.dev/verify", {})
  await made("/webhooks", { url: "http://127.0.0.1:9/hook", events: ["*"], description: "Every event of the shop" })
  await made("/api-keys", { name: "Shop, production", scopes: ["email:send"] })
  await made("/members", { email: "bo@acme.test", name: "Bo Larsen", role: "member" })
  const all = [...MAIL, ...MAIL.toReversed(), ...MAIL].entries()
  for (const [nth, [to, subject, tag]] of all) {
    // Who bounced or complained gets no second mail, so each has an address of their own.
    const own = to.replace("@customers", `+${nth}@customers`)
    await made("/email/send", { from: "Acme <hello@acme.test>", to: own, subject, html: html(subject), tags: [tag] })
  }
  const later = new Date(Date.now() + 36e5).toISOString()
  await made("/email/send", {
    from: "hello@acme.test",
    to: "later@example.org",
    subject: "Tomorrow",
    text: "?",
    scheduled_at: later,
  })
  // The screens are to show mail that has arrived, and its numbers.
  const settled = async () => {
    const waiting = (await ask("GET", "/email/logs?status=queued,sent&limit=5")).json.data.length
    const suppressed = (await ask("GET", "/suppressions")).json.data.length
    if (waiting > 1 || suppressed < 6) throw new Error(`${waiting} wait, ${suppressed} are suppressed`)
  }
  await vi.waitFor(settled, { timeout: 50_000, interval: 1_000 })
}
