import * as Text from "@waybill/domain/values/Text"
import { Config, Effect, Logger, Option, Redacted, Result, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { randomBytes } from "node:crypto"
import { isIP } from "node:net"
import { CommandRefused } from "../../process/CommandRefused.ts"
import * as Credentials from "./Credentials.ts"
import * as Options from "../Options.ts"

const MAX_HOSTS = 20
/** Shortest token that is accepted as a setting. */
const MIN_TOKEN_CHARS = 32
const TOKEN_BYTES = 32
const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|\[::1\]|localhost)$/u

const parseListen = (text: string) => {
  const url = URL.parse(`http://${text}`)
  const port = Number(/:(\d{1,5})$/u.exec(text)?.[1] ?? Number.NaN)
  return url === null || Number.isNaN(port) || port > 65_535 || url.pathname !== "/" || url.username !== ""
    ? Result.fail("must be a host and a port, such as 127.0.0.1:3030")
    : Result.succeed({ host: url.hostname, port })
}

const Listen = Text.parsed(
  Schema.Struct({ host: Schema.String, port: Schema.Int }),
  { description: "A host and a port", examples: ["127.0.0.1:3030"] },
  parseListen,
  ({ host, port }) => `${host}:${port}`,
)
type Listen = typeof Listen.Type

const HostName = Schema.String.check(
  Schema.isPattern(/^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/u, {
    message: "must be a host name in lower case, without a port",
  }),
)

export const mcp = Command.make(
  "mcp",
  {
    http: Flag.String("http").pipe(
      Flag.withSchema(Listen),
      Flag.withDescription("Serve streamable HTTP at HOST:PORT; without it, one client over standard input and output"),
      Flag.optional,
    ),
    allowHost: Flag.String("allow-host").pipe(
      Flag.withSchema(HostName),
      Flag.withDescription("With --http: a host name by which clients call this server; repeat for several"),
      Flag.between(0, MAX_HOSTS),
    ),
    allowLiveSending: Options.isSet(
      "allow-live-sending",
      "Offer a tool that sends real mail; the key needs the scope email:send",
    ),
  },
  Effect.fn(
    function* ({ allowHost, allowLiveSending, http }) {
      const listen = Option.getOrUndefined(http)
      const problem = problemOf(listen, allowHost)
      if (problem !== undefined) return yield* new CommandRefused({ message: problem })
      const settings = { ...(yield* Credentials.load), allowLiveSending }
      // Loaded by this command only.
      const { serve } = yield* Effect.promise(() => import("../../mcp/serve.ts"))
      if (listen === undefined) return yield* serve(settings, undefined)
      const { isNewToken, token } = yield* httpToken
      const hosts = isIP(unbracketed(listen.host)) === 0 ? allowHost : [...allowHost, listen.host]
      return yield* serve(settings, {
        listen: { ...listen, host: unbracketed(listen.host) },
        guard: { token, hosts },
        isNewToken,
      })
    },
    // Standard output belongs to the protocol.
    Effect.provide(Logger.layer([Logger.withConsoleError(Logger.formatJson)])),
  ),
).pipe(Command.withDescription("Serve tools for AI assistants (Model Context Protocol)"))

const problemOf = (listen: Listen | undefined, allowHost: ReadonlyArray<string>): string | undefined => {
  if (listen === undefined)
    return allowHost.length === 0 ? undefined : "--allow-host is for --http HOST:PORT. Leave it out."
  return LOOPBACK.test(listen.host) || allowHost.length > 0
    ? undefined
    : `--http ${listen.host}:${listen.port} can be reached from other machines. Name the host by which clients call it, such as --allow-host mcp.example.com`
}

const unbracketed = (host: string): string => host.replace(/^\[|\]$/gu, "")

/** Returns the token of the setting, or a new one for this run. */
const httpToken = Effect.gen(function* () {
  const set = yield* Config.option(Config.Redacted("WAYBILL_MCP_TOKEN"))
  if (Option.isNone(set)) return { token: randomBytes(TOKEN_BYTES).toString("base64url"), isNewToken: true }
  const token = Redacted.value(set.value)
  if (!/^[\x21-\x7e]+$/u.test(token) || token.length < MIN_TOKEN_CHARS)
    return yield* new CommandRefused({
      message: `WAYBILL_MCP_TOKEN must have at least ${MIN_TOKEN_CHARS} characters, without spaces. Make one with: openssl rand -hex 32`,
    })
  return { token, isNewToken: false }
})
