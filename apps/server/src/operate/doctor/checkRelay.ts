import type * as RelayTransport from "@waybill/mail/transport/RelayTransport"
import * as SmtpConnection from "@waybill/mail/smtp/SmtpConnection"
import { Effect, Result } from "effect"
import * as Finding from "./Finding.ts"

const found = Finding.of("relay")

const TIMEOUTS = { connect_ms: 10_000, greeting_ms: 15_000, ehlo_ms: 15_000, tls_ms: 15_000, auth_ms: 15_000 }

export interface Options {
  /** Name of this machine in EHLO. */
  readonly name: string
  readonly weight: Finding.Severity
  readonly ca?: string | Buffer
}

/** Checks that a delivery could connect, encrypt and log in. Sends no mail. */
export const checkRelay = Effect.fnUntraced(function* (to: RelayTransport.Relay, { ca, name, weight }: Options) {
  const where = `${to.host}:${to.port}`
  const connected = yield* Effect.result(
    Effect.scoped(
      Effect.acquireRelease(
        SmtpConnection.open({
          host: to.host,
          address: to.host,
          port: to.port,
          name,
          tls: ca === undefined ? to.tls : { ...to.tls, ca },
          login: to.login,
          timeouts: TIMEOUTS,
        }),
        (connection) => connection.quit,
      ),
    ),
  )
  if (Result.isFailure(connected)) return found.problem(weight, connected.failure.message, fixOf(connected.failure))
  const { tls } = connected.success
  const how = [tls ?? "without TLS", to.login === undefined ? "without a login" : `as ${to.login.user}`]
  return found.ok(`connected to ${where}, ${how.join(", ")}`)
})

const fixOf = ({ stage, kind }: SmtpConnection.ConnectFailed): string => {
  if (stage === "auth")
    return kind === "reply"
      ? "Correct user and password in SMTP_URL; write characters such as @ and / as %40 and %2F."
      : "The relay offers neither PLAIN nor LOGIN: remove the login, or use another of its ports."
  if (stage === "starttls" || kind === "tls")
    return "Its certificate must be valid for the host in SMTP_URL; use smtps:// for port 465 and smtp:// for others."
  if (stage === "connect")
    return kind === "refused"
      ? "Nothing listens there: correct host and port in SMTP_URL."
      : "Correct the host in SMTP_URL, fix DNS, or allow that port in the firewall."
  return kind === "reply"
    ? "The relay refuses this machine: read its reply, and allow this address there."
    : "The server does not speak SMTP: correct host and port in SMTP_URL; port 465 needs smtps://."
}
