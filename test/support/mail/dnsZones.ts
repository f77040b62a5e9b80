import * as Dns from "@waybill/mail/dns/Dns"
import { Effect, Layer } from "effect"

/** Records of one name. */
export interface Records {
  readonly TXT?: ReadonlyArray<string>
  readonly MX?: ReadonlyArray<Dns.Mx>
  readonly A?: ReadonlyArray<string>
  readonly AAAA?: ReadonlyArray<string>
  readonly CNAME?: string
  readonly NS?: ReadonlyArray<string>
  readonly PTR?: ReadonlyArray<string>
}
/** Records of one name, or the error with which every query of it ends. */
export type Zone = Records | Dns.Unavailable["reason"]
export type Zones = Readonly<Record<string, Zone>>

/** A resolver that answers from data, without a network. All zones are public. */
export const dnsZones = (zones: Zones): Layer.Layer<Dns.Dns> => {
  const queries = queriesOf(zones)
  return Layer.succeed(Dns.Dns, {
    ...queries,
    authoritative: () => Effect.succeed({ ...queries, isPublic: true, zone: null }),
  })
}

const queriesOf = (zones: Zones): Dns.Queries => {
  const query = <A>(pick: (records: Records) => ReadonlyArray<A> | undefined, followsAlias = true) => {
    const answer = (name: string): Dns.Answer<A> => {
      const zone = zones[name.toLowerCase()]
      if (zone === undefined) {
        const hasChild = Object.keys(zones).some((other) => other.endsWith(`.${name.toLowerCase()}`))
        return Dns.notFound(hasChild ? "NODATA" : "NXDOMAIN")
      }
      if (typeof zone === "string") return Dns.unavailable(zone)
      if (followsAlias && zone.CNAME !== undefined) return answer(zone.CNAME)
      const records = pick(zone)
      return records === undefined || records.length === 0 ? Dns.notFound("NODATA") : Dns.found(records)
    }
    return (name: string) => Effect.sync(() => answer(name))
  }
  return {
    txt: query((records) => records.TXT),
    mx: query((records) => records.MX?.toSorted((one, other) => one.preference - other.preference)),
    a: query((records) => records.A),
    aaaa: query((records) => records.AAAA),
    cname: query((records) => (records.CNAME === undefined ? undefined : [hostName(records.CNAME)]), false),
    ns: query((records) => records.NS),
    ptr: query((records) => records.PTR),
  }
}

const hostName = (name: string): string => name.replace(/\.$/u, "").toLowerCase()
