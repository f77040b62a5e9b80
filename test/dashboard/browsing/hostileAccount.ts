import { vi } from "vitest"
import * as Mail from "../../support/mail/aggregateMail.ts"
import { sendReport } from "../domains/sendReport.ts"
import type { Instance } from "../support/Instance.ts"

/** Name that a script of these texts sets in the page that runs it. */
export const TAKEN = "takenOver"
const RUN = `window.${TAKEN}=1`
/** Host that a page requests if it takes a style or an image of these texts for its own. */
const ELSEWHERE = "evil.example"

/** Texts that a page must show as they are. Each breaks out of another place: an element, an attribute, a style, a link. */
export const TEXTS: ReadonlyArray<string> = [
  `<img src=x onerror=${RUN}>`,
  `"><script>${RUN}</script>`,
  `'" onmouseover="${RUN}" onfocus=${RUN} autofocus x='`,
  `javascript:${RUN}`,
  `</style><style>body{display:none;background:url(//${ELSEWHERE}/s)}</style>`,
  `</title></textarea></script><svg onload=${RUN}>`,
  "__proto__",
  "constructor",
  "toString",
  "${7*7}{{7*7}}%s%n",
  "wide".repeat(2_500),
]
/** Texts with characters that are not seen, or turn the direction of what follows. Names refuse them, content does not. */
export const UNSEEN: ReadonlyArray<string> = [
  "\u202egnp.\u202cexe",
  "a\u200bd\u2060min\ufeff",
  "\u2067\u2066\u202d",
  "Ω̷̢̛".repeat(40),
]
const ALL = [...TEXTS, ...UNSEEN]

const at = (texts: ReadonlyArray<string>, nth: number): string => texts[nth % texts.length] ?? ""

/** Ids of what the routes with a parameter show. */
export interface HostileAccount {
  readonly emails: ReadonlyArray<string>
  readonly domains: ReadonlyArray<string>
  readonly webhooks: ReadonlyArray<string>
  readonly templates: ReadonlyArray<string>
  readonly requests: ReadonlyArray<string>
}

interface Servers {
  readonly receiver: string
  readonly mailPort: number
  readonly returnPath: string
}

const LONG_DOMAIN = `${"a".repeat(63)}.${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(40)}.dev`

/** Gives everything in the account that has a name a hostile one. The mail to `refused.example` ends in a hostile reply. */
export const seed = async (
  instance: Instance,
  { receiver, mailPort, returnPath }: Servers,
): Promise<HostileAccount> => {
  const { request, runCommand, sql } = instance
  const create = async (path: string, body: unknown, key?: string) => {
    const { json, status } = await request("POST", path, body, key)
    if (status >= 300) throw new Error(`${path}: ${JSON.stringify(json)}`)
    return json
  }
  const emails: Array<string> = []
  for (const [nth, text] of ALL.entries()) {
    const { id } = await create("/email/send", {
      from: `"${at(TEXTS, nth).replaceAll(/["\\]/gu, "").slice(0, 120)}" <hello@acme.test>`,
      to: [`r${nth}@${nth % 2 === 0 ? "refused.example" : "accepted.example"}`],
      subject: text.slice(0, 900),
      html: `<h1>${text}</h1><a href="javascript:${RUN}">Run</a><form action="//${ELSEWHERE}/f"><button>Go</button></form>`,
      text,
      tags: [at(TEXTS, nth).slice(0, 64), at(TEXTS, nth + 1).slice(0, 64)],
      reply_to: `"${at(TEXTS, nth).replaceAll(/["\\]/gu, "").slice(0, 60)}" <reply@acme.test>`,
      headers: { "X-Hostile": at(TEXTS, nth).slice(0, 500) },
      attachments: [
        {
          filename: `${at(TEXTS, nth).slice(0, 150)}.html`,
          content: btoa(`<script>${RUN}</script>`),
          content_type: "text/html",
        },
      ],
    })
    emails.push(id)
  }
  const domains = ["xn--80ak6aa92e.com", LONG_DOMAIN]
  for (const name of domains) await create("/domains", { name })
  const webhooks: Array<string> = []
  for (const [nth, text] of TEXTS.slice(0, 6).entries()) {
    const url = `${receiver}/${encodeURIComponent(text)}?x='"><svg/onload=${RUN}>`
    const { id } = await create("/webhooks", { url, events: ["*"], description: text.slice(0, 500) })
    webhooks.push(id)
    await create("/api-keys", { name: text.slice(0, 100), scopes: ["email:send"] })
    await create("/members", { email: `member${nth}@acme.test`, name: text.slice(0, 100), role: "member" })
  }
  const templates: Array<string> = []
  for (const text of TEXTS.slice(0, 6)) {
    const words = { subject: text.slice(0, 200), html: `<h1>${text}</h1><script>${RUN}</script>`, text }
    const { id } = await create("/templates", { name: text.slice(0, 200), description: text.slice(0, 500), ...words })
    templates.push(id)
  }
  const { key: testKey } = await create("/api-keys", { name: "Test", scopes: ["admin"], mode: "test" })
  for (const text of TEXTS.slice(0, 3)) await create("/test/clocks", { name: text.slice(0, 80) }, testKey)
  await create(
    "/email/send",
    { from: "hello@acme.test", to: "ana@example.org", subject: at(TEXTS, 0), html: at(TEXTS, 1) },
    testKey,
  )
  for (const local of ["{{7*7}}'&|`$", "__proto__", "x".repeat(60)])
    await create("/suppressions", { email: `${local}@acme.test`, reason: "manual" })
  await runCommand("ips", "add", "127.0.0.21", "--pool", "transactional", "--ehlo", "mail1.acme.test")
  await runCommand("ips", "pause", "127.0.0.21", "--site", "google.com", "--reason", at(TEXTS, 0))
  const report = Mail.text("fastmail.xml", { domain: "acme.test" }).replaceAll(
    /<org_name>[^<]*<\/org_name>/gu,
    `<org_name>${escaped(at(TEXTS, 1))}</org_name>`,
  )
  const file = { name: "r.xml", type: "text/xml", bytes: Buffer.from(report) }
  await sendReport(mailPort, `dmarc@${returnPath}`, Mail.mixed(`"${at(TEXTS, 3)}" <reports@${ELSEWHERE}>`, [file]))
  // Names from before they were checked as they are today, and names that only sign-in has.
  const literal = (text: string) => `'${text.replaceAll("'", "''")}'`
  const set = (table: string, column: string, text: string, where: string) =>
    sql(
      `UPDATE ${table} SET record = jsonb_set(record::jsonb, '{${column}}', to_jsonb(${literal(text)}::text)) WHERE ${where}`,
    )
  await set("accounts", "name", `${at(UNSEEN, 0)}${at(TEXTS, 0)}`, "true")
  await set("api_keys", "name", `${at(UNSEEN, 0)}${at(TEXTS, 10)}`, "record ->> 'name' = 'First key'")
  await set("webhooks", "description", `${at(UNSEEN, 1)}${at(TEXTS, 10)}`, `id = '${webhooks[0]}'`)
  await sql(`UPDATE users SET name = ${literal(`${at(UNSEEN, 0)}${at(TEXTS, 0)}${at(TEXTS, 10)}`)}`)
  const calls = await Promise.all(
    TEXTS.slice(0, 6).map((text) =>
      fetch(`${instance.url}/v1/email/logs?subject=${encodeURIComponent(text)}&x=${encodeURIComponent(text)}`, {
        headers: { authorization: `Bearer ${instance.key}`, "user-agent": text },
      }),
    ),
  )
  const assertSettled = async () => {
    const waiting = (await request("GET", "/email/logs?status=queued&limit=5")).json.data.length
    if (waiting > 0) throw new Error(`${waiting} pending`)
  }
  await vi.waitFor(assertSettled, { timeout: 100_000, interval: 1_000 })
  const refused = calls.flatMap(({ headers }) => headers.get("x-request-id") ?? [])
  return { emails, domains: ["acme.test", ...domains], webhooks, templates, requests: refused }
}

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

/** Names of saved views, which only a session may save. A string, because the tests have no DOM types. */
export const saveViews = `Promise.all(${JSON.stringify(TEXTS.slice(0, 6).map((text) => text.slice(0, 60)))}.map((name) =>
  fetch("/v1/dashboard/views", {
    method: "POST",
    headers: { "x-waybill-dashboard": "1", "content-type": "application/json" },
    body: JSON.stringify({ name, search: "subject=" + encodeURIComponent(name) }),
  }).then(({ status }) => status)))`
