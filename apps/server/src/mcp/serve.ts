import * as HiddenCharacters from "@waybill/domain/values/HiddenCharacters"
import { Console, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import * as HttpGuard from "./HttpGuard.ts"
import * as McpServer from "./McpServer.ts"
import { type Listen, overHttp } from "./overHttp.ts"
import { overStdio } from "./overStdio.ts"
import * as Toolbox from "./Toolbox.ts"

export interface Http {
  readonly listen: Listen
  readonly guard: HttpGuard.Guard
  /** Whether the token was made now, so that it must be shown to be known. */
  readonly isNewToken: boolean
}

/** Serves the tools until the client leaves, or over HTTP until a signal. */
export const serve = Effect.fnUntraced(function* (settings: Toolbox.Settings, http: Http | undefined) {
  const factory = yield* Effect.flatMap(Toolbox.make(settings), McpServer.make)
  if (http === undefined) return yield* overStdio(factory)
  return yield* Layer.launch(
    Layer.provideMerge(Layer.effectDiscard(announce(http)), overHttp(factory, http.guard, http.listen)),
  )
})

/** Prints the address, and a new token, on standard error. */
const announce = Effect.fnUntraced(function* ({ guard, isNewToken }: Http) {
  const { address } = yield* HttpServer.HttpServer
  const lines = [
    `MCP server at ${HttpServer.formatAddress(address)}${HttpGuard.PATH}`,
    ...(isNewToken ? [`Token for this run: ${guard.token}  (set WAYBILL_MCP_TOKEN to choose one)`] : []),
  ]
  yield* Console.error(HiddenCharacters.escapedLines(lines.join("\n")))
})
