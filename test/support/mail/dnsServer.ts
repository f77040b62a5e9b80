import { Effect, type Scope } from "effect"
import * as packet from "dns-packet"
import * as dgram from "node:dgram"
import * as net from "node:net"

/** Records of one name by type. A type without records is NODATA, an unknown name NXDOMAIN. */
export interface Records {
  readonly A?: ReadonlyArray<string>
  readonly AAAA?: ReadonlyArray<string>
  readonly CNAME?: string
  readonly MX?: ReadonlyArray<readonly [preference: number, exchange: string]>
  readonly NS?: ReadonlyArray<string>
  readonly PTR?: ReadonlyArray<string>
  readonly TLSA?: ReadonlyArray<{
    readonly usage: number
    readonly selector: number
    readonly matchingType: number
    readonly certificate: Buffer
  }>
  /** A string is cut into pieces of 255; an array is taken as the pieces of one record. */
  readonly TXT?: ReadonlyArray<string | ReadonlyArray<string>>
}

/** `timeout` sends no answer; `truncate` answers UDP with only the TC bit, so that the client repeats over TCP. */
export type Trouble = "SERVFAIL" | "REFUSED" | "NXDOMAIN" | "timeout" | "truncate"

/** Answer of a name: records, an error, or a function of the number of earlier queries (for rebinding). */
export type Zone = Records | Trouble | ((asked: number, type: packet.RecordType) => Records | Trouble)

export interface DnsServer {
  readonly port: number
  /** Address in the form of `dns.Resolver.setServers`. */
  readonly server: string
  readonly set: (name: string, zone: Zone) => void
  readonly remove: (name: string) => void
  /** Signs a zone: answers about it and all names below have the AD bit, if the query has it. */
  readonly sign: (zone: string) => void
  readonly queries: ReadonlyArray<{ readonly name: string; readonly type: string; readonly over: "udp" | "tcp" }>
}

const HOST = "127.0.0.1"
const UDP_WITHOUT_EDNS = 512
const TXT_PIECE = 255
const PORT_TRIES = 20

/** A real DNS server on loopback, UDP and TCP on one port that the system chose, closed with the scope. */
export const listen = (zones: Readonly<Record<string, Zone>> = {}): Effect.Effect<DnsServer, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(() => open(zones)),
    (server) => Effect.promise(server.close),
  )

/** Opens a server at an address; programs that know no other port ask at 53, which root may open. */
export const open = async (
  initial: Readonly<Record<string, Zone>> = {},
  at: { readonly host: string; readonly port: number } = { host: HOST, port: 0 },
): Promise<DnsServer & { readonly close: () => Promise<void> }> => {
  const zones = new Map<string, Zone>()
  for (const [name, zone] of Object.entries(initial)) zones.set(name.toLowerCase(), zone)
  const asked = new Map<string, number>()
  const signed = new Set<string>()
  const isSigned = (name: string) => [...signed].some((zone) => name === zone || name.endsWith(`.${zone}`))
  const queries: Array<{ name: string; type: string; over: "udp" | "tcp" }> = []

  const answer = (query: packet.DecodedPacket, over: "udp" | "tcp"): Buffer | undefined => {
    const question = query.questions?.[0]
    if (question === undefined) return undefined
    const name = question.name.toLowerCase()
    queries.push({ name, type: question.type, over })
    const count = asked.get(name) ?? 0
    asked.set(name, count + 1)
    const found = lookUp(zones, name, question.type, count)
    if (found === "timeout") return undefined
    const aliases = typeof found === "string" ? [] : found.answers.filter(({ type }) => type === "CNAME")
    const names = [name, ...aliases.map((alias) => String("data" in alias ? alias.data : ""))]
    const isAuthentic = query.flag_ad === true && names.every(isSigned)
    const reply = (rcode: number, answers: Array<packet.Answer> = []) =>
      packet.encode({
        type: "response",
        id: query.id ?? 0,
        flags:
          packet.RECURSION_DESIRED |
          packet.RECURSION_AVAILABLE |
          (isAuthentic ? packet.AUTHENTIC_DATA : packet.AUTHORITATIVE_ANSWER) |
          rcode,
        questions: [question],
        answers,
      })
    if (found === "SERVFAIL") return reply(2)
    if (found === "NXDOMAIN") return reply(3)
    if (found === "REFUSED") return reply(5)
    if (found === "truncate") return reply(packet.TRUNCATED_RESPONSE)
    const whole = reply(0, found.answers)
    const room = query.additionals?.find((record) => record.type === "OPT")?.udpPayloadSize ?? UDP_WITHOUT_EDNS
    if (over === "udp" && (found.truncate || whole.length > room)) return reply(packet.TRUNCATED_RESPONSE)
    return whole
  }

  const { udp, tcp, port } = await bind(at)
  const connections = new Set<net.Socket>()
  udp.on("message", (message, from) => {
    const response = answer(packet.decode(message), "udp")
    if (response !== undefined) udp.send(response, from.port, from.address)
  })
  tcp.on("connection", (socket) => {
    connections.add(socket)
    socket.on("close", () => connections.delete(socket))
    socket.on("error", () => {})
    let pending = Buffer.alloc(0)
    socket.on("data", (chunk) => {
      pending = Buffer.concat([pending, chunk])
      while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
        const end = 2 + pending.readUInt16BE(0)
        const response = answer(packet.decode(pending.subarray(2, end)), "tcp")
        pending = pending.subarray(end)
        if (response === undefined) continue
        const length = Buffer.alloc(2)
        length.writeUInt16BE(response.length)
        socket.write(Buffer.concat([length, response]))
      }
    })
  })

  return {
    port,
    server: `${at.host}:${port}`,
    set: (name, zone) => void zones.set(name.toLowerCase(), zone),
    remove: (name) => void zones.delete(name.toLowerCase()),
    sign: (zone) => void signed.add(zone.toLowerCase()),
    queries,
    close: async () => {
      for (const socket of connections) socket.destroy()
      await Promise.all([
        new Promise<void>((resolve) => udp.close(() => resolve())),
        new Promise<void>((resolve) => tcp.close(() => resolve())),
      ])
    },
  }
}

const CHAIN = 8

const lookUp = (
  zones: ReadonlyMap<string, Zone>,
  asked: string,
  type: packet.RecordType,
  count: number,
):
  | { readonly answers: Array<packet.Answer>; readonly truncate: boolean }
  | Exclude<Trouble, "truncate">
  | "truncate" => {
  const answers: Array<packet.Answer> = []
  let name = asked
  for (let hop = 0; hop < CHAIN; hop++) {
    const zone = zones.get(name)
    if (zone === undefined) {
      if (answers.length > 0) return { answers, truncate: false }
      // A name that only has names below it exists without records (RFC 8020).
      return [...zones.keys()].some((other) => other.endsWith(`.${name}`)) ? { answers, truncate: false } : "NXDOMAIN"
    }
    const records = typeof zone === "function" ? zone(count, type) : zone
    if (typeof records === "string") return records
    if (records.CNAME !== undefined && type !== "CNAME") {
      answers.push({ type: "CNAME", name, ttl: 1, data: records.CNAME })
      name = records.CNAME.toLowerCase()
      continue
    }
    answers.push(...encode(name, type, records))
    return { answers, truncate: false }
  }
  return "SERVFAIL"
}

const encode = (name: string, type: packet.RecordType, records: Records): Array<packet.Answer> => {
  switch (type) {
    case "A":
      return (records.A ?? []).map((data) => ({ type: "A", name, ttl: 1, data }))
    case "AAAA":
      return (records.AAAA ?? []).map((data) => ({ type: "AAAA", name, ttl: 1, data }))
    case "CNAME":
      return records.CNAME === undefined ? [] : [{ type: "CNAME", name, ttl: 1, data: records.CNAME }]
    case "NS":
      return (records.NS ?? []).map((data) => ({ type: "NS", name, ttl: 1, data }))
    case "PTR":
      return (records.PTR ?? []).map((data) => ({ type: "PTR", name, ttl: 1, data }))
    case "MX":
      return (records.MX ?? []).map(([preference, exchange]) => ({
        type: "MX",
        name,
        ttl: 1,
        data: { preference, exchange },
      }))
    case "TLSA":
      return (records.TLSA ?? []).map((data) => ({ type: "TLSA", name, ttl: 1, data }))
    case "TXT":
      return (records.TXT ?? []).map((text) => ({
        type: "TXT",
        name,
        ttl: 1,
        data: typeof text === "string" ? pieces(text) : [...text],
      }))
    default:
      return []
  }
}

const pieces = (text: string): Array<string> => {
  const out: Array<string> = []
  for (let at = 0; at < text.length; at += TXT_PIECE) out.push(text.slice(at, at + TXT_PIECE))
  return out.length === 0 ? [""] : out
}

const bind = async (at: {
  readonly host: string
  readonly port: number
}): Promise<{ udp: dgram.Socket; tcp: net.Server; port: number }> => {
  for (let attempt = 0; attempt < PORT_TRIES; attempt++) {
    const udp = dgram.createSocket("udp4")
    await new Promise<void>((resolve) => udp.bind(at.port, at.host, resolve))
    const { port } = udp.address()
    const tcp = net.createServer()
    const free = await new Promise<boolean>((resolve) => {
      tcp.once("error", () => resolve(false))
      tcp.listen(port, at.host, () => resolve(true))
    })
    if (free) return { udp, tcp, port }
    await new Promise<void>((resolve) => udp.close(() => resolve()))
  }
  throw new Error("no port is free for both UDP and TCP")
}
