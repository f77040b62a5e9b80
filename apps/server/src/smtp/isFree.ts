import { Effect } from "effect"
import { createServer } from "node:net"

interface Place {
  readonly host: string
  readonly port: number
}

/** Whether nobody listens on a port of this machine. Other errors are those of the listener, which names them. */
export const isFree = ({ host, port }: Place): Effect.Effect<boolean> =>
  Effect.callback((resume) => {
    const server = createServer()
    server.once("error", ({ code }: NodeJS.ErrnoException) => resume(Effect.succeed(code !== "EADDRINUSE")))
    server.listen(port, host, () => server.close(() => resume(Effect.succeed(true))))
  })
