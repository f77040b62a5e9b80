import { vi } from "vitest"
import type { Instance } from "./Instance.ts"

const EMAILS: ReadonlyArray<readonly [to: string, subject: string, tag: string]> = [
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

const REASONS = ["hard_bounce", "complaint", "manual"]

/** Fills the account with emails of every status, a pending domain, a webhook that always fails, an API key and a member. */
export const seedAccount = async ({ request }: Instance): Promise<void> => {
  const create = async (path: string, body: unknown) => {
    const { json, status } = await request("POST", path, body)
    if (status >= 300) throw new Error(`${path}: ${JSON.stringify(json)}`)
    return json
  }
  await create("/domains", { name: "mail.shop.dev" })
  await create("/domains/mail.shop.dev/verify", {})
  await create("/webhooks", { url: "http://127.0.0.1:9/hook", events: ["*"], description: "Every event of the shop" })
  await create("/inbound/routes", { match: { to: "old+*@acme.test" }, action: { type: "reject", message: "Sold out" } })
  await create("/api-keys", { name: "Shop, production", scopes: ["email:send"] })
  await create("/members", { email: "bo@acme.test", name: "Bo Larsen", role: "member" })
  const all = [...EMAILS, ...EMAILS.toReversed(), ...EMAILS].entries()
  for (const [index, [to, subject, tag]] of all) {
    // The simulator takes any label. Each email has its own, so that lists show different recipients.
    const recipient = to.replace("@customers", `+${index}@customers`)
    await create("/email/send", {
      from: "Acme <hello@acme.test>",
      to: recipient,
      subject,
      html: html(subject),
      tags: [tag],
    })
  }
  // Simulated bounces and complaints suppress nobody.
  for (const [nth, reason] of [...REASONS, ...REASONS].entries())
    await create("/suppressions", { email: `bounced+listed${nth}@customers.test`, reason })
  const later = new Date(Date.now() + 36e5).toISOString()
  await create("/email/send", {
    from: "hello@acme.test",
    to: "later@example.org",
    subject: "Tomorrow",
    text: "?",
    scheduled_at: later,
  })
  // The screens need delivered mail and its statistics.
  const assertSettled = async () => {
    const waiting = (await request("GET", "/email/logs?status=queued,sent&limit=5")).json.data.length
    if (waiting > 1) throw new Error(`${waiting} pending`)
  }
  await vi.waitFor(assertSettled, { timeout: 50_000, interval: 100 })
}
