import * as Text from "@waybill/domain/values/Text"
import { Effect, Layer, Option, Redacted, Result, Schema } from "effect"
import * as Network from "../dns/Network.ts"
import * as ProviderMetadata from "../provider/ProviderMetadata.ts"
import * as Secrets from "../provider/Secrets.ts"
import * as SitePool from "../site/SitePool.ts"
import * as SmtpConnection from "../smtp/SmtpConnection.ts"
import type * as SmtpTimeouts from "../smtp/SmtpTimeouts.ts"
import * as SmtpDelivery from "./SmtpDelivery.ts"
import * as Transport from "./Transport.ts"

/** A relay is the operator's own, or paid for: it takes more connections than other servers. */
export const RELAY_CONNECTIONS = 10
export const RELAY_MESSAGES = 100
const SUBMISSION_PORT = 587
const SMTPS_PORT = 465

export class BadRelayUrl extends Schema.TaggedError<BadRelayUrl>()("BadRelayUrl", { reason: Schema.String }) {
  override get message() {
    return `SMTP_URL ${this.reason}; write it as smtp://user:password@relay.example:587 or smtps://…`
  }
}

export interface Relay {
  readonly host: string
  readonly port: number
  readonly tls: SmtpConnection.TlsRule
  readonly login: { readonly user: string; readonly password: Redacted.Redacted } | undefined
  /** `dsn` makes the relay report success later, so its 250 is `sent` and not `delivered`. */
  readonly confirm: "none" | "dsn"
  readonly connections: number
  /** Header by which the relay is told the return path. */
  readonly metadata?: string | undefined
}

/**
 * Parses the URL of a relay. `smtps://` uses TLS from the first octet, `smtp://` requires STARTTLS; both check the
 * certificate. Only a relay on loopback may be used in the clear. `?connections=20` and `?confirm=dsn` may follow.
 */
export const parse = (text: string): Result.Result<Relay, BadRelayUrl> => {
  const fail = (reason: string) => Result.fail(new BadRelayUrl({ reason }))
  if (!URL.canParse(text)) return fail("is not a URL")
  const url = new URL(text)
  if (url.protocol !== "smtp:" && url.protocol !== "smtps:")
    return fail(`begins with ${Text.shownScheme(url.protocol.slice(0, -1))}`)
  if (url.hostname === "") return fail("names no host")
  if (url.pathname !== "" && url.pathname !== "/") return fail("has a path")
  for (const name of url.searchParams.keys()) {
    if (name !== "connections" && name !== "confirm") return fail(`has an unknown parameter ${name}`)
  }
  const confirm = url.searchParams.get("confirm") ?? "none"
  if (confirm !== "none" && confirm !== "dsn") return fail("takes confirm=none or confirm=dsn")
  const connections = Number(url.searchParams.get("connections") ?? RELAY_CONNECTIONS)
  if (!Number.isInteger(connections) || connections < 1 || connections > 100) return fail("takes connections=1 to 100")
  const host = url.hostname.replace(/^\[|\]$/gu, "")
  const user = decoded(url.username)
  const password = decoded(url.password)
  if (user === undefined || password === undefined) return fail("has a login that is not percent-encoded")
  if ((user === "") !== (password === "")) return fail("needs both a user and a password, or neither")
  const secure = url.protocol === "smtps:"
  return Result.succeed({
    host,
    port: url.port === "" ? (secure ? SMTPS_PORT : SUBMISSION_PORT) : Number(url.port),
    tls: secure
      ? { mode: "implicit", verify: true }
      : isLoopback(host)
        ? { mode: "opportunistic", verify: false }
        : { mode: "required", verify: true },
    login: user === "" ? undefined : { user, password: Redacted.make(password) },
    confirm,
    connections,
    metadata: ProviderMetadata.headerOf(host),
  })
}

export interface Options {
  /** Name of this side in EHLO. */
  readonly name: string
  readonly timeouts?: Partial<SmtpTimeouts.Timeouts>
  readonly ca?: string | Buffer
}

export const layer = (relay: Relay, options: Options): Layer.Layer<Transport.Transport> =>
  Layer.effect(
    Transport.Transport,
    Effect.gen(function* () {
      const pool = yield* SitePool.make()
      const key = `relay ${relay.host}:${relay.port}`
      const { login } = relay
      const mask = login === undefined ? Secrets.NOTHING : Secrets.maskOf([login.user, Redacted.value(login.password)])
      const connect = SmtpConnection.open({
        host: relay.host,
        address: relay.host,
        port: relay.port,
        name: options.name,
        tls: options.ca === undefined ? relay.tls : { ...relay.tls, ca: options.ca },
        login,
        timeouts: options.timeouts,
      }).pipe(
        Effect.tapError((failure) =>
          failure.stage === "auth"
            ? Effect.logWarning("the login to the relay failed; mail is deferred until that is mended", {
                response: mask(failure.message),
              })
            : Effect.void,
        ),
      )
      const relayRoute: SmtpDelivery.Route = {
        site: { key, route: key, connections: relay.connections, messages: RELAY_MESSAGES },
        connect: (avoid) => (avoid.size > 0 ? undefined : connect),
        confirms: relay.confirm === "dsn",
      }
      const masked = (outcome: Transport.RecipientOutcome) => Secrets.masked(outcome, mask)
      return Transport.Transport.of({
        kind: "relay",
        deliver: (message, recipients) => {
          const report = (outcome: Transport.RecipientOutcome) => message.report(masked(outcome))
          const outgoing = { ...withMetadata(relay, message, recipients), report }
          return Effect.map(SmtpDelivery.deliver(pool, relayRoute, outgoing, recipients), (outcomes) =>
            outcomes.map(masked),
          )
        },
      })
    }),
  )

/** The message with the local part of its return path as metadata, in a header that no signature covers. */
const withMetadata = (
  { metadata }: Relay,
  message: Transport.OutgoingMessage,
  recipients: ReadonlyArray<string>,
): Transport.OutgoingMessage => {
  if (metadata === undefined) return message
  const [localPart = ""] = message.mailFrom(recipients).split("@")
  return { ...message, bytes: Buffer.concat([Buffer.from(`${metadata}: ${localPart}\r\n`), message.bytes]) }
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || Network.refusedRange(Network.literal(host) ?? "") === "loopback"

const decoded = (text: string): string | undefined => {
  const result = Result.try(() => decodeURIComponent(text))
  return Option.getOrUndefined(Result.getSuccess(result))
}
