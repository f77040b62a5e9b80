import * as Dns from "@waybill/mail/dns/Dns"
import * as DmarcSources from "@waybill/store/domainreports/DmarcSources"
import { Effect, Layer, Metric } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import * as MailListener from "../../../apps/server/src/smtp/MailListener.ts"
import * as Mail from "../../support/mail/aggregateMail.ts"
import * as DnsServer from "../../support/mail/dnsServer.ts"
import * as World from "../../support/world/World.ts"
import * as Smtp from "../smtp/support.ts"

const DOMAIN = "bounces.waybill.test"
const SIGNERS = [
  "google.com",
  "microsoft.com",
  "dmarc.yahoo.com",
  "fastmaildmarc.com",
  "receiver.example",
  "evil.example",
]

/** The listener for reports, and a DNS server with the keys of the reporters. */
export const listen = Effect.gen(function* () {
  const { record, sign } = yield* Mail.makeSigner
  const dns = yield* DnsServer.listen(
    Object.fromEntries(SIGNERS.map((domain) => [`s1._domainkey.${domain}`, { TXT: [record] }])),
  )
  const port = yield* MailListener.listen({
    host: "127.0.0.1",
    port: 0,
    name: DOMAIN,
    inbound: Smtp.REPORTS_ONLY,
    returnPath: { domain: DOMAIN, secretKeys: [Buffer.alloc(32, 9)] },
  }).pipe(Effect.provide(yield* Layer.build(Dns.Dns.layer({ servers: [dns.server], query_timeout_ms: 500 }))))
  return { dns, port, record, sign }
})

export const send = Effect.fnUntraced(function* (port: number, local: string, bytes: Uint8Array) {
  const client = yield* Smtp.raw(port)
  const commands = ["EHLO mx.example.org", "MAIL FROM:<>", `RCPT TO:<${local}@${DOMAIN}>`, "DATA"]
  const replies = yield* Effect.promise(() => client.all(commands))
  if (!(replies.at(-1) ?? "").startsWith("354")) return replies.at(-1) ?? ""
  const text = Buffer.from(bytes).toString("latin1").replaceAll(/^\./gmu, "..").replace(/\r\n$/u, "")
  client.write(Buffer.from(`${text}\r\n.\r\n`, "latin1"))
  return yield* Effect.promise(() => client.reply())
}, Effect.scoped)

export const spanOf = ({ account_id, domain_id }: World.SendingDomain, verified = true): DmarcSources.Span => ({
  account_id,
  domain_id,
  days: 30,
  verified,
})

/** The sources of a domain, as `address messages aligned`. */
export const sourcesOf = (domain: World.SendingDomain, verified = true) =>
  Effect.map(DmarcSources.sources(spanOf(domain, verified), 100), (sources) =>
    sources.map(({ aligned, messages, source_ip }) => `${source_ip} ${messages} ${aligned}`),
  )

export const counted = (outcome: string) =>
  Effect.map(Metric.snapshot, (all) => {
    const one = all.find(
      (each) => each.id === "waybill_domain_reports_total" && each.attributes?.["outcome"] === outcome,
    )
    return Number((one?.state as { readonly count?: number | bigint } | undefined)?.count ?? 0)
  })

let names = 0
export const aDomain = Effect.suspend(() => World.verifiedDomain(`acme${names++}.test`))

export const rowsInAll = Effect.gen(function* () {
  const sql = yield* Sql
  const rows = yield* Effect.orDie(sql<{ readonly rows: number }>`
    SELECT (SELECT count(*) FROM domain_reports) + (SELECT count(*) FROM dmarc_sources)
      + (SELECT count(*) FROM tls_results) AS rows`)
  return Number(rows[0]?.rows)
})
