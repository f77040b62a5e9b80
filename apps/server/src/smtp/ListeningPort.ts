import { Duration, Effect } from "effect"
import * as net from "node:net"
import { Connection, type Deps } from "./Connection.ts"

/** A port on which connections come in, until it stops. */
export class ListeningPort<Login> {
  readonly #connections = new Set<Connection<Login>>()
  readonly #server: net.Server
  readonly #stopWithin: Duration.Duration
  #isStopping = false

  constructor(deps: Deps<Login>, hasImplicitTls: boolean) {
    this.#stopWithin = deps.limits.stopWithin
    const port = { hasImplicitTls, isStopping: () => this.#isStopping }
    this.#server = net.createServer((socket) => {
      // A connection that was accepted just before the stop would hold it up.
      if (this.#isStopping) return void socket.destroy()
      const connection = new Connection(socket, deps, port)
      this.#connections.add(connection)
      socket.once("close", () => this.#connections.delete(connection))
    })
  }

  /** Returns the port, which the system chooses if none is given. */
  listen(host: string, port: number): Effect.Effect<number, Error> {
    return Effect.callback((resume) => {
      const fail = (error: Error) => resume(Effect.fail(error))
      this.#server.once("error", fail)
      this.#server.listen(port, host, () => {
        this.#server.off("error", fail)
        // A connection that could not be accepted is the loss of its client alone.
        this.#server.on("error", () => undefined)
        resume(Effect.succeed((this.#server.address() as net.AddressInfo).port))
      })
    })
  }

  /** Refuses new connections, answers messages in flight, tells idle clients to reconnect, and ends the rest after a while. */
  readonly stop: Effect.Effect<void> = Effect.callback((resume) => {
    this.#isStopping = true
    const timer = setTimeout(() => {
      for (const connection of this.#connections) connection.end()
      resume(Effect.void)
    }, Duration.toMillis(this.#stopWithin))
    this.#server.close(() => {
      clearTimeout(timer)
      resume(Effect.void)
    })
    for (const connection of this.#connections) connection.dismiss()
  })
}
