import { Effect } from "effect"
import * as Dns from "../dns/Dns.ts"
import type { Tlsa } from "./DnsMessage.ts"
import * as TlsaRecord from "./TlsaRecord.ts"
import * as TrustedResolver from "./TrustedResolver.ts"

/**
 * Demand of a mail server's signed zone on its TLS (RFC 7672): none, that it matches the records, that there is some
 * because none of the records can be used, or that no mail goes there while the records cannot be read.
 */
export type ServerRule =
  | { readonly _tag: "Unsigned" }
  | {
      readonly _tag: "Matched"
      readonly records: ReadonlyArray<Tlsa>
      /** Name under which the records are, and of the server in TLS. */
      readonly base: string
    }
  | { readonly _tag: "Encrypted" }
  | { readonly _tag: "Unknown"; readonly reason: string }

const UNSIGNED: ServerRule = { _tag: "Unsigned" }

export interface Dane {
  /** Mail servers of a domain, and whether their names are authentic. Without that, no server has a rule. */
  readonly mx: (domain: string) => Effect.Effect<{ readonly answer: Dns.Answer<Dns.Mx>; readonly isSecure: boolean }>
  readonly ruleOf: (host: string, port: number) => Effect.Effect<ServerRule>
}

export const make = (resolver: TrustedResolver.TrustedResolver): Dane => {
  const mx: Dane["mx"] = Effect.fn("Dane.mx")(function* (domain) {
    const { answer, isSecure } = yield* resolver.query(domain, "MX")
    if (answer._tag !== "Found") return { answer, isSecure }
    const records = answer.records.map(({ exchange, preference }) => ({ exchange, preference }))
    return { answer: Dns.found(records.toSorted((one, other) => one.preference - other.preference)), isSecure }
  })

  const ruleOf: Dane["ruleOf"] = Effect.fn("Dane.ruleOf")(function* (host, port) {
    const address = yield* addressOf(resolver, host)
    if (address.answer._tag === "Unavailable") return unknown(`addresses of ${host}`, address.answer)
    // RFC 7672 §2.2.2: name servers that do not sign may also fail at types that they do not know.
    if (!address.isSecure) return UNSIGNED
    // The name behind an alias comes first (§2.2.3).
    for (const base of new Set([address.name, host])) {
      const { answer, isSecure } = yield* resolver.query(`_${port}._tcp.${base}`, "TLSA")
      if (answer._tag === "Unavailable") return unknown(`TLSA of ${base}`, answer)
      if (answer._tag === "NotFound" || !isSecure) continue
      const records = TlsaRecord.usable(answer.records)
      return records.length === 0 ? { _tag: "Encrypted" } : { _tag: "Matched", records, base }
    }
    return UNSIGNED
  })
  return { mx, ruleOf }
}

/** Returns DANE by the resolver of a setting, if there is one. */
export const at = (resolver: string | undefined): { readonly dane?: Dane } => {
  const server = resolver === undefined ? undefined : TrustedResolver.parse(resolver)
  return server === undefined ? {} : { dane: make(TrustedResolver.make({ server })) }
}

const unknown = (what: string, { reason }: Dns.Unavailable): ServerRule => ({
  _tag: "Unknown",
  reason: `${what}: ${reason}`,
})

/** Queries the addresses of a server, for whether they are signed. */
const addressOf = Effect.fnUntraced(function* (
  resolver: TrustedResolver.TrustedResolver,
  host: string,
): Effect.fn.Return<TrustedResolver.Resolved<unknown>> {
  const four = yield* resolver.query(host, "A")
  return four.answer._tag === "NotFound" && four.answer.reason === "NODATA" ? yield* resolver.query(host, "AAAA") : four
})
