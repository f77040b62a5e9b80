import * as Dane from "@waybill/mail/dane/Dane"
import * as TrustedResolver from "@waybill/mail/dane/TrustedResolver"
import { Effect } from "effect"
import { createHash, X509Certificate } from "node:crypto"
import { readFileSync } from "node:fs"
import type * as tls from "node:tls"
import type * as DnsServer from "../../support/mail/dnsServer.ts"
import type * as SmtpServer from "../../support/mail/smtpServer.ts"
import { pair } from "../smtp/mxPair.ts"

const read = (file: string): Buffer => readFileSync(new URL(`../../fixtures/tls/${file}`, import.meta.url))

/** The certificate of `certified`, with that of the authority behind it. */
export const chained: tls.SecureContextOptions = {
  key: read("server.key"),
  cert: Buffer.concat([read("server.pem"), read("ca.pem")]),
}
/** Certificate for mx1.acme.test that ended in 2021, with its issuer behind it. */
export const expired: tls.SecureContextOptions = {
  key: read("expired.key"),
  cert: Buffer.concat([read("expired.pem"), read("expired-ca.pem")]),
}
export const expiredAuthority = new X509Certificate(read("expired-ca.pem"))

const HASHES = { 1: "sha256", 2: "sha512" } as const

/** The first certificate of a server, or another one (PEM). */
export const certificateOf = ({ cert }: tls.SecureContextOptions): X509Certificate => new X509Certificate(String(cert))

/** TLSA record of a certificate. */
export const tlsa = (usage: number, selector: number, matchingType: number, of: X509Certificate) => {
  const whole = selector === 0 ? of.raw : of.publicKey.export({ type: "spki", format: "der" })
  const certificate =
    matchingType === 1 || matchingType === 2 ? createHash(HASHES[matchingType]).update(whole).digest() : whole
  return { usage, selector, matchingType, certificate }
}

type Tlsa = NonNullable<DnsServer.Records["TLSA"]>

/** The trusted resolver, which is the DNS server of the test. */
export const trusting = (dns: Pick<DnsServer.DnsServer, "server">, query_timeout_ms = 5_000): Dane.Dane => {
  const server = TrustedResolver.parse(dns.server)
  if (server === undefined) throw new Error(`${dns.server} is not an address`)
  return Dane.make(TrustedResolver.make({ server, query_timeout_ms, query_tries: 1 }))
}

/** Two servers of acme.test, whose zone is signed, with the same records. */
export const signedPair = Effect.fnUntraced(function* (
  first: SmtpServer.Options,
  records: Tlsa | DnsServer.Trouble,
  second: SmtpServer.Options = first,
) {
  const world = yield* pair(first, second)
  world.dns.sign("acme.test")
  for (const host of ["mx1.acme.test", "mx2.acme.test"])
    world.dns.set(`_${world.port}._tcp.${host}`, typeof records === "string" ? records : { TLSA: records })
  const mails = () => [...(world.mx1?.mails ?? []), ...world.mx2.mails]
  return { ...world, dane: trusting(world.dns), mails }
})
