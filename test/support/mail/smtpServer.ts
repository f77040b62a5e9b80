import { Effect, type Scope } from "effect"
import { readFileSync } from "node:fs"
import * as net from "node:net"
import * as tls from "node:tls"
import { type Action, type At, isTlsTrouble, type Phase } from "./smtpScript.ts"

/** Without a script it is a sink that takes and counts everything; a script makes it misbehave at any point of the session. */
export interface Options {
  readonly script?: (at: At) => Action | undefined
  readonly host?: string
  readonly port?: number
  readonly pipelining?: boolean
  readonly size?: number
  readonly smtputf8?: boolean
  readonly dsn?: boolean
  readonly starttls?: tls.SecureContextOptions
  readonly implicit_tls?: tls.SecureContextOptions
  readonly auth?: { readonly user: string; readonly password: string; readonly mechanisms?: ReadonlyArray<string> }
  readonly helo_only?: boolean
  /** A sink under load counts messages by Message-ID and keeps no bytes. */
  readonly keep_bytes?: boolean
}

export interface Mail {
  readonly from: string
  readonly to: ReadonlyArray<string>
  readonly mail_line: string
  readonly rcpt_lines: ReadonlyArray<string>
  /** The message with dots unstuffed; empty in a sink that only counts. */
  readonly bytes: Buffer
  readonly messageId: string
  readonly helo: string
  readonly tls: boolean
  readonly user: string | null
  readonly connection: number
  /** Address that the client connected from. */
  readonly remote: string
}

export interface SmtpServer {
  readonly host: string
  readonly port: number
  readonly mails: ReadonlyArray<Mail>
  /** Number of times that each Message-ID was stored. */
  readonly counts: ReadonlyMap<string, number>
  /** Every command line, in order, over all connections. */
  readonly lines: ReadonlyArray<string>
  readonly connections: () => { readonly opened: number; readonly open: number; readonly most: number }
  readonly violations: ReadonlyArray<string>
  readonly setScript: (script: Options["script"]) => void
}

const read = (name: string) => readFileSync(new URL(`../../fixtures/tls/${name}`, import.meta.url))
/** Certificate for mx1.acme.test, mx2.acme.test, relay.acme.test, mta-sts.acme.test, localhost and 127.0.0.1, issued by `authority`. */
export const certified: tls.SecureContextOptions = { key: read("server.key"), cert: read("server.pem") }
/** Self-signed certificate for somewhere.else.test. */
export const selfSigned: tls.SecureContextOptions = { key: read("selfsigned.key"), cert: read("selfsigned.pem") }
export const authority: Buffer = read("ca.pem")

export const listen = (options: Options = {}): Effect.Effect<SmtpServer, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(() => open(options)),
    (server) => Effect.promise(server.close),
  )

export const open = async (options: Options = {}): Promise<SmtpServer & { readonly close: () => Promise<void> }> => {
  const host = options.host ?? "127.0.0.1"
  const sockets = new Set<net.Socket>()
  const state: State = {
    options,
    script: options.script,
    mails: [],
    counts: new Map(),
    lines: [],
    violations: [],
  }
  let opened = 0
  let most = 0
  const server = net.createServer((socket) => {
    const connection = opened++
    sockets.add(socket)
    most = Math.max(most, sockets.size)
    socket.on("close", () => sockets.delete(socket))
    socket.on("error", () => {})
    socket.setNoDelay(true)
    serve(state, socket, connection)
  })
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(options.port ?? 0, host, resolve)
  })
  const address = server.address()
  return {
    host,
    port: typeof address === "object" && address !== null ? address.port : 0,
    mails: state.mails,
    counts: state.counts,
    lines: state.lines,
    violations: state.violations,
    connections: () => ({ opened, open: sockets.size, most }),
    setScript: (script) => {
      state.script = script
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  }
}

interface State {
  readonly options: Options
  script: Options["script"]
  readonly mails: Array<Mail>
  readonly counts: Map<string, number>
  readonly lines: Array<string>
  readonly violations: Array<string>
}

const END = Buffer.from("\r\n.\r\n")

const serve = (state: State, raw: net.Socket, connection: number): void => {
  const { options } = state
  let socket: net.Socket = raw
  let hung = false
  let secure = false
  let user: string | null = null
  let helo = ""
  const remote = raw.remoteAddress ?? ""
  let transaction = -1
  let from: string | null = null
  let mailLine = ""
  let to: Array<string> = []
  let rcptLines: Array<string> = []
  let rcptIndex = 0
  let pending = ""
  let body: Array<Buffer> | undefined
  let login: Array<string> | undefined

  const say = (reply: string): void => {
    const lines = reply.split("\n")
    const code = reply.slice(0, 3)
    socket.write(
      lines
        .map((line, i) => (i === 0 ? line : `${code} ${line}`))
        .map((line, i) => (i < lines.length - 1 ? `${line.slice(0, 3)}-${line.slice(4)}` : line))
        .join("\r\n") + "\r\n",
    )
    // RFC 5321 §3.8: after a 421 the server closes.
    if (code === "421") socket.end()
  }
  /** Whether the script has handled this point of the session. */
  const act = (phase: Phase, line: string, index = 0): boolean => {
    const action = state.script?.({ phase, connection, transaction, index, line })
    if (action === undefined || isTlsTrouble(action) || action.startsWith("store-")) return false
    if (action === "drop" || action === "close" || action === "hang" || action === "stall") {
      hung = true
      if (action === "stall") socket.pause()
      if (action === "drop") raw.resetAndDestroy()
      if (action === "close") socket.end()
    } else say(action)
    return true
  }
  const reset = (): void => {
    from = null
    to = []
    rcptLines = []
    rcptIndex = 0
  }
  const store = (bytes: Buffer): void => {
    const head = bytes.subarray(0, 8_192).toString("latin1")
    const messageId = /^message-id:\s*<?([^>\r\n]+)/imu.exec(head)?.[1] ?? ""
    state.counts.set(messageId, (state.counts.get(messageId) ?? 0) + 1)
    const kept = options.keep_bytes === false ? Buffer.alloc(0) : unstuffed(bytes)
    state.mails.push({
      from: from ?? "",
      to,
      mail_line: mailLine,
      rcpt_lines: rcptLines,
      bytes: kept,
      messageId,
      helo,
      tls: secure,
      user,
      connection,
      remote,
    })
  }

  const command = (line: string): void => {
    state.lines.push(line)
    const verb = line.split(/[\s:]/u, 1)[0]?.toUpperCase() ?? ""
    if (login !== undefined) return loginStep(line)
    switch (verb) {
      case "EHLO": {
        if (options.helo_only === true) return say("502 5.5.1 not here")
        helo = line.slice(5)
        if (act("ehlo", line)) return
        const extensions = [
          ...(options.pipelining === false ? [] : ["PIPELINING"]),
          "8BITMIME",
          "ENHANCEDSTATUSCODES",
          ...(options.size === undefined ? [] : [`SIZE ${options.size}`]),
          ...(options.smtputf8 === true ? ["SMTPUTF8"] : []),
          ...(options.dsn === true ? ["DSN"] : []),
          ...(options.starttls === undefined || secure ? [] : ["STARTTLS"]),
          ...(options.auth === undefined ? [] : [`AUTH ${(options.auth.mechanisms ?? ["PLAIN", "LOGIN"]).join(" ")}`]),
        ]
        return say(["250 sink.test", ...extensions].join("\n"))
      }
      case "HELO":
        helo = line.slice(5)
        return act("ehlo", line) ? undefined : say("250 sink.test")
      case "STARTTLS":
        return startTls(line)
      case "AUTH":
        return auth(line)
      case "MAIL":
        transaction++
        reset()
        mailLine = line
        if (act("mail", line)) return
        if (options.auth !== undefined && user === null) return say("530 5.7.0 authentication required")
        from = /<([^>]*)>/u.exec(line)?.[1] ?? ""
        return say("250 2.1.0 sender ok")
      case "RCPT": {
        const index = rcptIndex++
        if (act("rcpt", line, index)) return
        if (from === null) return say("503 5.5.1 MAIL first")
        to.push(/<([^>]*)>/u.exec(line)?.[1] ?? "")
        rcptLines.push(line)
        return say("250 2.1.5 recipient ok")
      }
      case "DATA":
        if (act("data", line)) return
        if (to.length === 0) return say("554 5.5.1 no valid recipients")
        body = []
        return say("354 go ahead")
      case "RSET":
        reset()
        return act("rset", line) ? undefined : say("250 2.0.0 ok")
      case "QUIT":
        if (act("quit", line)) return
        say("221 2.0.0 bye")
        return void socket.end()
      case "NOOP":
        return say("250 2.0.0 ok")
      default:
        return say("500 5.5.2 what?")
    }
  }

  const startTls = (line: string): void => {
    if (options.starttls === undefined) return say("502 5.5.1 no TLS")
    const trouble = state.script?.({ phase: "starttls", connection, transaction, index: 0, line })
    if (trouble === "injected-reply") return void socket.write("220 2.0.0 go\r\n250 2.0.0 fine\r\n")
    if (trouble === "broken-tls") {
      say("220 2.0.0 go")
      // The client's hello comes first, so that the garbage is an answer to it.
      socket.removeAllListeners("data")
      return void socket.once("data", () => socket.end("this is no handshake\r\n"))
    }
    if (act("starttls", line)) return
    say("220 2.0.0 go")
    socket.removeAllListeners("data")
    attach(new tls.TLSSocket(socket, { isServer: true, secureContext: tls.createSecureContext(options.starttls) }))
    secure = true
  }

  const auth = (line: string): void => {
    if (act("auth", line)) return
    const [, mechanism = "", initial] = line.split(" ")
    if (mechanism.toUpperCase() === "PLAIN" && initial !== undefined) {
      const [, name = "", password = ""] = Buffer.from(initial, "base64").toString().split("\0")
      return judge(name, password)
    }
    if (mechanism.toUpperCase() !== "LOGIN") return say("504 5.5.4 unknown mechanism")
    login = []
    return say(`334 ${Buffer.from("Username:").toString("base64")}`)
  }
  const loginStep = (line: string): void => {
    login = [...(login ?? []), Buffer.from(line, "base64").toString()]
    const [name = "", password] = login
    if (password === undefined) return say(`334 ${Buffer.from("Password:").toString("base64")}`)
    login = undefined
    judge(name, password)
  }
  const judge = (name: string, password: string): void => {
    if (name !== options.auth?.user || password !== options.auth.password) return say("535 5.7.8 wrong credentials")
    user = name
    say("235 2.7.0 welcome")
  }

  const data = (chunk: Buffer): void => {
    if (body === undefined) return
    if (body.length === 0) {
      // The line break before a dot may be the one that ended the DATA line.
      body.push(Buffer.from("\r\n"))
      if (act("body", "")) return
    }
    const tail = Buffer.concat(body.slice(-4).map((piece) => piece.subarray(-4))).subarray(-4)
    const window = Buffer.concat([tail, chunk])
    const at = window.indexOf(END)
    if (at < 0) return void body.push(chunk)
    const rest = window.subarray(at + END.length)
    body.push(chunk.subarray(0, chunk.length - rest.length))
    const whole = Buffer.concat(body)
    const message = whole.subarray(2, whole.length - 3)
    body = undefined
    const action = state.script?.({ phase: "dot", connection, transaction, index: 0, line: "." })
    if (action === undefined || action.startsWith("2") || action.startsWith("store-")) store(message)
    if (action === "store-then-drop") return void ((hung = true), raw.resetAndDestroy())
    if (action === "store-then-hang") return void (hung = true)
    if (!act("dot", ".")) say(`250 2.0.0 OK queued as ${state.mails.length}`)
    reset()
    if (rest.length > 0) receive(rest)
  }

  const receive = (chunk: Buffer): void => {
    if (hung) return
    if (body !== undefined) return data(chunk)
    pending += chunk.toString("utf8")
    if (options.pipelining === false && pending.trimEnd().includes("\n")) state.violations.push(pending)
    for (let end = pending.indexOf("\n"); end >= 0 && !hung; end = pending.indexOf("\n")) {
      const line = pending.slice(0, end).replace(/\r$/u, "")
      pending = pending.slice(end + 1)
      command(line)
      if (body !== undefined && pending.length > 0) {
        const early = Buffer.from(pending)
        pending = ""
        return data(early)
      }
    }
  }

  const attach = (next: net.Socket): void => {
    socket = next
    pending = ""
    next.on("error", () => {})
    next.on("data", receive)
  }

  if (state.script?.({ phase: "connect", connection, transaction, index: 0, line: "" }) === "drop") {
    raw.resetAndDestroy()
    return
  }
  if (options.implicit_tls !== undefined) {
    attach(new tls.TLSSocket(raw, { isServer: true, secureContext: tls.createSecureContext(options.implicit_tls) }))
    secure = true
  } else attach(raw)
  if (!act("greeting", "")) say("220 sink.test ESMTP")
}

const unstuffed = (bytes: Buffer): Buffer => Buffer.from(bytes.toString("latin1").replace(/^\./gmu, ""), "latin1")
