import { Effect } from "effect"
import { randomInt } from "node:crypto"
import * as dgram from "node:dgram"
import * as net from "node:net"
import * as Dns from "../dns/Dns.ts"
import * as DnsMessage from "./DnsMessage.ts"

/** Maximum number of aliases of one name. */
const MAX_ALIASES = 8

/** Address of a resolver that validates DNSSEC, and whose AD bit is believed. */
export interface Server {
  readonly host: string
  readonly port: number
}

export interface Config {
  readonly server: Server
  readonly query_timeout_ms?: number
  readonly query_tries?: number
}

export interface Resolved<A> {
  readonly answer: Dns.Answer<A>
  /** Whether the resolver has validated the answer, also one that there is nothing. */
  readonly isSecure: boolean
  /** Name behind all aliases. */
  readonly name: string
}

type Of<T extends DnsMessage.Type> = Extract<DnsMessage.AnswerRecord, { readonly type: T }>

export interface TrustedResolver {
  readonly query: <T extends Exclude<DnsMessage.Type, "CNAME">>(name: string, type: T) => Effect.Effect<Resolved<Of<T>>>
}

/** Parses `address`, `address:port` or `[address]:port`. A name would have to be resolved by somebody. */
export const parse = (text: string): Server | undefined => {
  const [, bracketed, plain, port = "53"] = /^(?:\[([^\]]+)\]|([^[\]]*?))(?::(\d{1,5}))?$/u.exec(text) ?? []
  const whole = net.isIPv6(text) ? { host: text, port: 53 } : { host: bracketed ?? plain ?? "", port: Number(port) }
  return net.isIP(whole.host) !== 0 && whole.port > 0 && whole.port < 65_536 ? whole : undefined
}

export const make = (config: Config): TrustedResolver => {
  const timeout_ms = config.query_timeout_ms ?? Dns.QUERY_TIMEOUT_MS
  const tries = config.query_tries ?? Dns.QUERY_TRIES
  const ask = async (name: string, type: DnsMessage.Type, signal: AbortSignal) => {
    // The answer must repeat both, so a forged one has to guess them and the port.
    const query = DnsMessage.encodeQuery(randomInt(0x10000), name, type)
    if (query === undefined) return undefined
    const answer = await overUdp(config.server, query, timeout_ms, signal)
    return answer.isTruncated ? overTcp(config.server, query, timeout_ms, signal) : answer
  }
  return {
    query: Effect.fn("TrustedResolver.query")(function* (name, type) {
      const none = (answer: Dns.NotFound | Dns.Unavailable) => ({ answer, isSecure: false, name })
      for (let nth = 1; ; nth++) {
        const asked = yield* Effect.result(
          Effect.tryPromise({ try: (signal) => ask(name.toLowerCase(), type, signal), catch: reasonOf }),
        )
        if (asked._tag === "Success")
          return asked.success === undefined ? none(Dns.notFound("NXDOMAIN")) : resolved(asked.success, name, type)
        if (nth >= tries) return none(Dns.unavailable(asked.failure))
      }
    }),
  }
}

const reasonOf = (cause: unknown): Dns.Unavailable["reason"] => {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined
  return code === "ETIMEOUT" ? "TIMEOUT" : code === "EBADRESP" ? "BADRESP" : "UNREACHABLE"
}

const resolved = <T extends DnsMessage.Type>(
  { answers, code, isAuthentic }: DnsMessage.DnsMessage,
  asked: string,
  type: T,
): Resolved<Of<T>> => {
  let name = asked.toLowerCase()
  for (let hops = 0; hops < MAX_ALIASES; hops++) {
    const alias = answers.find((each) => each.type === "CNAME" && each.name === name)
    if (alias?.type !== "CNAME") break
    name = alias.target
  }
  const of = (answer: Dns.Answer<Of<T>>) => ({ answer, isSecure: isAuthentic, name })
  // A bogus answer is a SERVFAIL: the resolver does not hand out what it could not validate.
  if (code === 2) return of(Dns.unavailable("SERVFAIL"))
  if (code === 5) return of(Dns.unavailable("REFUSED"))
  if (code === 3) return of(Dns.notFound("NXDOMAIN"))
  if (code !== 0) return of(Dns.unavailable("BADRESP"))
  const records = answers.filter((each): each is Of<T> => each.type === type && each.name === name)
  return of(records.length === 0 ? Dns.notFound("NODATA") : Dns.found(records))
}

const failed = (code: string) => Object.assign(new Error(`the resolver did not answer: ${code}`), { code })

/** Decodes what answers the query; undefined for anything else. */
const answerOf = (query: Buffer, bytes: Buffer): DnsMessage.DnsMessage | undefined => {
  const message = DnsMessage.decode(bytes)
  const asked = DnsMessage.decode(query)
  return message?.isResponse === true &&
    message.id === asked?.id &&
    message.question.name === asked.question.name &&
    message.question.type === asked.question.type
    ? message
    : undefined
}

const overUdp = ({ host, port }: Server, query: Buffer, timeout_ms: number, signal: AbortSignal) =>
  new Promise<DnsMessage.DnsMessage>((resolve, reject) => {
    const socket = dgram.createSocket(net.isIPv6(host) ? "udp6" : "udp4")
    const end = (settle: () => void) => {
      clearTimeout(timer)
      signal.removeEventListener("abort", stop)
      socket.removeAllListeners().on("error", () => {})
      socket.close()
      settle()
    }
    const stop = () => end(() => reject(failed("ETIMEOUT")))
    const timer = setTimeout(stop, timeout_ms)
    signal.addEventListener("abort", stop)
    socket.on("error", (error) => end(() => reject(error)))
    // Something else may be somebody's guess; the answer may still come.
    socket.on("message", (bytes) => {
      const answer = answerOf(query, bytes)
      if (answer !== undefined) end(() => resolve(answer))
    })
    // A connected socket takes datagrams of the resolver only.
    socket.connect(port, host, () => socket.send(query))
  })

const overTcp = ({ host, port }: Server, query: Buffer, timeout_ms: number, signal: AbortSignal) =>
  new Promise<DnsMessage.DnsMessage>((resolve, reject) => {
    const socket = net.connect({ host, port, signal })
    let received = Buffer.alloc(0)
    const end = (settle: () => void) => {
      clearTimeout(timer)
      socket.destroy()
      settle()
    }
    const timer = setTimeout(() => end(() => reject(failed("ETIMEOUT"))), timeout_ms)
    socket.on("error", (error) => end(() => reject(error)))
    socket.on("close", () => end(() => reject(failed("EBADRESP"))))
    socket.on("connect", () => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(query.length)
      socket.write(Buffer.concat([length, query]))
    })
    // At most 64 KB, which two octets can announce.
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return
      const answer = answerOf(query, received.subarray(2, 2 + received.readUInt16BE(0)))
      end(() => (answer === undefined ? reject(failed("EBADRESP")) : resolve(answer)))
    })
  })
