import type { McpServerFactory } from "@modelcontextprotocol/server"
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio"
import { Effect } from "effect"

/** Maximum size of one message on standard input. */
const MAX_MESSAGE_BYTES = 1_048_576

/** Serves one client over standard input and output, until it closes its side. */
export const overStdio = (factory: McpServerFactory): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const transport = new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: MAX_MESSAGE_BYTES })
    const ended = () => resume(Effect.void)
    process.stdin.once("end", ended).once("close", ended)
    const served = serveStdio(factory, { transport })
    return Effect.promise(() => served.close())
  })
