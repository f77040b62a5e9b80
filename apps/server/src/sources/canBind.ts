import { Effect } from "effect"
import { createSocket } from "node:dgram"

/** Whether this host can send from an address. A list of interfaces would not tell: Linux can allow others, too. */
export const canBind = (address: string): Effect.Effect<boolean> =>
  Effect.callback<boolean>((resume) => {
    const socket = createSocket(address.includes(":") ? { type: "udp6", ipv6Only: true } : { type: "udp4" })
    const done = (isBound: boolean) => {
      socket.removeAllListeners()
      socket.on("error", () => {})
      socket.close()
      resume(Effect.succeed(isBound))
    }
    socket.once("error", () => done(false))
    socket.once("listening", () => done(true))
    socket.bind({ address, port: 0, exclusive: true })
  })
