const MESSAGE = {
  from: "Acme <hello@acme.test>",
  to: ["ana@example.org"],
  subject: "Your receipt",
  html: "<p>Thank you, Ana.</p>",
  tags: ["receipt"],
}
const RECEIPT = { alias: "receipt", name: "Receipt", subject: "Your receipt", html: "<p>Thank you, {{ name }}.</p>" }

/**
 * A body for each endpoint that takes one, by its operation. The OpenAPI document has them, and the reference writes its
 * samples of them. A test sends each to a new instance.
 */
export const BODIES: Readonly<Record<string, object>> = {
  "emails.send": MESSAGE,
  "emails.sendBatch": { emails: [MESSAGE, { ...MESSAGE, to: ["bo@example.org"], html: "<p>Thank you, Bo.</p>" }] },
  "emails.reschedule": { scheduled_at: "2026-12-24T08:00:00Z" },
  "domains.add": { name: "mail.example.org" },
  "domains.update": { receiving: true },
  "apiKeys.create": { name: "Production", scopes: ["email:send"] },
  "webhooks.create": { url: "https://example.org/hooks", events: ["email.delivered", "email.bounced"] },
  "webhooks.update": { events: ["email.delivered", "email.bounced", "email.complained"] },
  "webhooks.replay": { created_after: "2026-11-21T00:00:00Z", created_before: "2026-11-22T00:00:00Z" },
  "suppressions.add": { email: "ana@example.org" },
  "suppressions.batch": { add: [{ email: "ana@example.org" }, { email: "bo@example.org" }] },
  "members.invite": { email: "ana@example.org", role: "member" },
  "members.changeRole": { role: "viewer" },
  "testClocks.create": { name: "End of the trial" },
  "testClocks.advance": { by: "P3D" },
  "inbound.reply": { from: "Acme <support@acme.test>", text: "Your order left today." },
  "inbound.forward": { to: "bo@example.org" },
  "inbound.test": {
    from: "Ana <ana@example.org>",
    to: "support@acme.test",
    subject: "My order",
    text: "Where is it?",
  },
  "inboundRoutes.create": {
    match: { to: "old@acme.test" },
    action: { type: "reject", message: "Write to support@acme.test" },
  },
  "inboundRoutes.update": { enabled: false },
  "inboundRoutes.test": { to: "old@acme.test", from: "ana@example.org", subject: "My order" },
  "templates.create": RECEIPT,
  "templates.update": { subject: "Your receipt, {{ name }}" },
  "templates.publish": { notes: "Name in the subject" },
  "templates.rollback": { version: 1 },
  "templates.duplicate": { name: "Receipt of partners", alias: "partner-receipt" },
  "templates.render": { variables: { name: "Ana" } },
  "templates.push": { templates: [RECEIPT], notes: "From the repository" },
  "templates.validate": { subject: RECEIPT.subject, html: RECEIPT.html },
}
