import * as Availability from "@waybill/store/availability/Availability"
import { Duration, Effect } from "effect"
import * as net from "node:net"
import * as tls from "node:tls"
import type { ListenerLimits } from "../../../../apps/server/src/smtp/ListenerLimits.ts"
import * as Listener from "../../../../apps/server/src/smtp/Listener.ts"
import { reply } from "../../../../apps/server/src/smtp/SmtpReply.ts"
import { CA } from "../support.ts"

export const MAX_MESSAGE_BYTES = 1000

const LIMITS: ListenerLimits = {
  maxConnections: 100,
  maxConnectionsPerAddress: 100,
  maxUnidentified: 100,
  maxUnidentifiedPerAddress: 100,
  maxRecipients: 3,
  maxMessageBytes: MAX_MESSAGE_BYTES,
  idle: Duration.minutes(5),
  message: Duration.minutes(5),
  identifiedWithin: Duration.minutes(5),
  identifiedWithinCrowded: Duration.minutes(5),
  stopWithin: Duration.seconds(5),
}

type Handlers = Listener.Handlers<string, never>

/** Takes one key, refuses a few addresses, and repeats a message and its envelope in the reply. */
const HANDLERS: Handlers = {
  login: (password) =>
    password === "good" ? Effect.succeed("login") : reply(535, "5.7.8", `No such key: ${password}`),
  mail: () => Effect.void,
  recipient: (address) => {
    if (address.startsWith("refused")) return reply(550, "5.1.1", `No ${address}`)
    return address.startsWith("later") ? Effect.sleep("20 millis") : Effect.void
  },
  message: (bytes, { from, helo, recipients, size, tls }) =>
    bytes.includes("refuse me")
      ? reply(554, "5.6.0", "Refused")
      : Effect.succeed(
          [
            `2.0.0 From ${from} to ${recipients.join(", ")} of ${helo} size ${size} tls ${tls}`,
            `2.0.0 ${JSON.stringify(bytes.toString("latin1").slice(0, 300))}`,
          ].join("\n"),
        ),
}

export interface TestOptions extends Partial<Omit<Listener.Options, "limits">> {
  readonly limits?: Partial<ListenerLimits>
  readonly handlers?: Partial<Handlers>
  readonly hasLogin?: boolean
}

/** Listens without a database, and returns the port. */
export const listen = ({ handlers, hasLogin = false, limits, ...options }: TestOptions = {}) =>
  Listener.listen<string, never>(
    { host: "127.0.0.1", port: 0, name: "mx.test", strictLines: false, ...options, limits: { ...LIMITS, ...limits } },
    { ...HANDLERS, ...(hasLogin ? {} : { login: undefined }), ...handlers },
  ).pipe(Effect.provide(Availability.unwatched))

const REPLY = /^(?:\d{3}-[^\n]*\n)*\d{3} [^\n]*\n/u

/** A client that reads whole replies, each with all its lines. */
export class LineClient {
  socket: net.Socket
  #heard = ""
  #isClosed = false
  #wake: () => void = () => undefined

  constructor(port: number, isSecure = false) {
    const plain = net.connect(port, "127.0.0.1")
    this.socket = plain
    if (isSecure) this.secure()
    else this.#listen()
  }

  #listen(): void {
    this.socket.setEncoding("utf8")
    this.socket.on("data", (text: string) => {
      this.#heard += text
      this.#wake()
    })
    this.socket.on("error", () => undefined)
    for (const event of ["end", "close"])
      this.socket.on(event, () => {
        this.#isClosed = true
        this.#wake()
      })
  }

  /** Begins TLS; what is read from now on comes inside it. */
  secure(): void {
    const plain = this.socket.removeAllListeners()
    plain.on("error", () => undefined)
    this.socket = tls.connect({ socket: plain, ca: CA, servername: "localhost", checkServerIdentity: () => undefined })
    this.#listen()
  }

  async reply(): Promise<ReadonlyArray<string>> {
    while (true) {
      const [whole] = REPLY.exec(this.#heard) ?? []
      if (whole !== undefined) {
        this.#heard = this.#heard.slice(whole.length)
        return whole.trimEnd() === whole.slice(0, 3)
          ? [`${whole.slice(0, 3)} `]
          : whole.replace(/\r\n$/u, "").split("\r\n")
      }
      if (this.#isClosed) return ["(closed)"]
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  async say(text: string): Promise<string> {
    this.socket.write(`${text}\r\n`)
    return (await this.reply()).at(-1) ?? ""
  }
}

export const connect = (port: number, isSecure = false) =>
  Effect.acquireRelease(
    Effect.sync(() => new LineClient(port, isSecure)),
    ({ socket }) => Effect.sync(() => socket.destroy()),
  )
