import { Effect, Redacted, type Scope } from "effect"
import * as net from "node:net"

/**
 * Fault of the next COMMIT that passes. `before`: the COMMIT never reaches the server. `after`: the server commits, and
 * the connection is cut before the response. `silent`: the same without a cut, so that the client keeps waiting.
 * `late`: the client is cut off, and the COMMIT reaches the server when `release` is called.
 */
export type Fault = "before" | "after" | "silent" | "late"

export interface FaultProxy {
  /** Address of the database through the proxy. */
  readonly url: Redacted.Redacted
  /** Queues faults, one for each COMMIT. */
  readonly inject: (...faults: ReadonlyArray<Fault>) => void
  /** Queues a fault for the next COMMIT of a transaction that was sent this text. */
  readonly injectInto: (text: string, fault: Fault) => void
  /** Forwards the COMMITs that were held back. */
  readonly release: () => void
  /** Number of COMMITs that met a fault so far. */
  readonly struck: () => number
  /** Cuts every connection, and every new one at once. */
  readonly down: () => void
  readonly up: () => void
  /** Forwards nothing from now on, and leaves the connections open. */
  readonly swallow: () => void
  /** Forwards again. What was sent meanwhile is gone. */
  readonly hear: () => void
  /** Leaves new clients waiting for an answer from now on. */
  readonly holdNew: () => void
  /** Number of clients that wait. */
  readonly heldNew: () => number
  /** Connects the clients that wait, and again every new one. */
  readonly letIn: () => void
  /** Connects new clients to another server, as after a failover. */
  readonly lead: (url: Redacted.Redacted) => void
  /** Looks for texts in what clients send from now on, and returns those that were found so far. */
  readonly watchFor: (...texts: ReadonlyArray<string>) => () => ReadonlyArray<string>
  /** Number of connection attempts while the proxy was down. */
  readonly refused: () => number
}

/** Starts a proxy between clients and Postgres, which recognizes a COMMIT in the protocol and applies faults to it. */
export const faultProxy = (url: Redacted.Redacted): Effect.Effect<FaultProxy, never, Scope.Scope> =>
  Effect.gen(function* () {
    const faults: Array<Fault> = []
    const marked = new Map<string, Fault>()
    const held: Array<() => void> = []
    const open = new Set<net.Socket>()
    const watched = new Map<string, boolean>()
    let struck = 0
    let isDown = false
    let isDeaf = false
    let isHolding = false
    const waiting: Array<net.Socket> = []
    let refused = 0
    let target = url
    const server = net.createServer((client) => {
      if (isDown) {
        refused++
        client.on("error", () => {}).destroy()
        return
      }
      if (isHolding) waiting.push(client.on("error", () => {}))
      else letIn(client)
    })
    const letIn = (client: net.Socket) => {
      const upstream = net.connect(addressOf(target))
      for (const socket of [client, upstream]) {
        open.add(socket)
        socket
          .setNoDelay(true)
          .on("error", () => {})
          .on("close", () => open.delete(socket))
      }
      relay(client, upstream, {
        next: (texts) => {
          const text = [...texts].find((each) => marked.has(each)) ?? ""
          const fault = marked.get(text) ?? faults.shift()
          marked.delete(text)
          if (fault !== undefined) struck++
          return fault
        },
        marks: () => [...marked.keys()],
        look: (message) => {
          for (const [text, isFound] of watched) if (!isFound && message.includes(text)) watched.set(text, true)
        },
        hold: (pass) => held.push(pass),
        isDeaf: () => isDeaf,
      })
    }
    const cutAll = () => {
      for (const socket of [...open, ...waiting.splice(0)]) socket.destroy()
    }
    yield* Effect.acquireRelease(
      Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
      () =>
        Effect.promise(() => {
          const closed = new Promise<void>((resolve) => server.close(() => resolve()))
          cutAll()
          return closed
        }),
    )
    const { port } = server.address() as net.AddressInfo
    const through = new URL(Redacted.value(url))
    through.search = ""
    through.hostname = "127.0.0.1"
    through.port = String(port)
    return {
      url: Redacted.make(through.href),
      inject: (...more) => void faults.push(...more),
      injectInto: (text, fault) => void marked.set(text, fault),
      watchFor: (...texts) => {
        watched.clear()
        for (const text of texts) watched.set(text, false)
        return () => texts.filter((text) => watched.get(text))
      },
      release: () => {
        for (const pass of held.splice(0)) pass()
      },
      struck: () => struck,
      down: () => {
        isDown = true
        cutAll()
      },
      up: () => {
        isDown = false
      },
      swallow: () => {
        isDeaf = true
      },
      hear: () => {
        isDeaf = false
      },
      holdNew: () => {
        isHolding = true
      },
      heldNew: () => waiting.length,
      letIn: () => {
        isHolding = false
        waiting.splice(0).forEach(letIn)
      },
      lead: (other) => {
        target = other
      },
      refused: () => refused,
    }
  })

const addressOf = (url: Redacted.Redacted): net.NetConnectOpts => {
  const parsed = new URL(Redacted.value(url))
  const folder = parsed.searchParams.get("host")
  const port = parsed.port === "" ? "5432" : parsed.port
  return folder === null ? { host: parsed.hostname, port: Number(port) } : { path: `${folder}/.s.PGSQL.${port}` }
}

interface Faults {
  /** The fault of a COMMIT, by the marked texts that its transaction was sent. */
  readonly next: (texts: ReadonlySet<string>) => Fault | undefined
  readonly marks: () => ReadonlyArray<string>
  readonly look: (message: Buffer) => void
  readonly hold: (pass: () => void) => void
  readonly isDeaf: () => boolean
}

const relay = (client: net.Socket, upstream: net.Socket, faults: Faults): void => {
  const seen = commits()
  const texts = new Set<string>()
  let fault: Fault | undefined
  const cut = () => {
    client.destroy()
    upstream.destroy()
  }
  const fromClient = messages(true, (message) => {
    if (fault === "before" || fault === "late" || faults.isDeaf()) return
    faults.look(message)
    for (const text of faults.marks()) if (message.includes(text)) texts.add(text)
    if (seen(message)) {
      fault = faults.next(texts)
      texts.clear()
      if (fault === "before") return cut()
      if (fault === "late") {
        const rest = [message, SYNC]
        client.destroy()
        faults.hold(() => {
          for (const each of rest) upstream.write(each)
          upstream.end()
        })
        return
      }
    }
    upstream.write(message)
  })
  const fromServer = messages(false, (message) => {
    if (fault === "after" && isCommitted(message)) return cut()
    if (fault === "silent" || faults.isDeaf()) return
    if (!client.destroyed) client.write(message)
  })
  client.on("data", fromClient)
  upstream.on("data", fromServer)
  client.on("close", () => fault !== "late" && upstream.destroy())
  upstream.on("close", () => client.destroy())
}

const SYNC = Buffer.from([0x53, 0, 0, 0, 4])

/** Splits a stream into messages. The client's first message has no type byte. */
const messages = (startsWithoutType: boolean, take: (message: Buffer) => void) => {
  let rest: Buffer = Buffer.alloc(0)
  let typeBytes = startsWithoutType ? 0 : 1
  return (chunk: Buffer): void => {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= typeBytes + 4) {
      const length = typeBytes + rest.readUInt32BE(typeBytes)
      if (rest.length < length) return
      const message = rest.subarray(0, length)
      rest = rest.subarray(length)
      typeBytes = 1
      take(message)
    }
  }
}

/**
 * Returns whether a message makes the server commit: a simple query, or the execution of a portal bound to a prepared
 * COMMIT.
 */
const commits = () => {
  const prepared = new Map<string, string>()
  let bound = ""
  return (message: Buffer): boolean => {
    const type = String.fromCharCode(message[0] ?? 0)
    const [first = "", second = ""] = message.subarray(5).toString("latin1").split("\0", 2)
    if (type === "P") prepared.set(first, second)
    if (type === "B") bound = prepared.get(second) ?? ""
    return (type === "Q" && isCommit(first)) || (type === "E" && isCommit(bound))
  }
}
const isCommit = (text: string): boolean => text.trim().toUpperCase() === "COMMIT"
const isCommitted = (message: Buffer): boolean => message[0] === 0x43 && message.subarray(5, 11).toString() === "COMMIT"
