import type * as RelayTransport from "@waybill/mail/transport/RelayTransport"
import * as SmtpConnection from "@waybill/mail/smtp/SmtpConnection"
import { Effect, Result } from "effect"
import { type Finding, ok, trouble, type Weight } from "./Finding.ts"

const TIMEOUTS = { connect_ms: 10_000, greeting_ms: 15_000, ehlo_ms: 15_000, tls_ms: 15_000, auth_ms: 15_000 }

export interface Options {
  /** How this side calls itself in EHLO. */
  readonly name: string
  readonly weight: Weight
  readonly ca?: string | Buffer
}

/** Connects, encrypts and logs in as a delivery would, and leaves again without having sent anything. */
export const relay = (to: RelayTransport.Relay, { ca, name, weight }: Options): Effect.Effect<Finding> =>
  Effect.gen(function* () {
    const where = `${to.host}:${to.port}`
    const tried = yield* Effect.result(
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
    if (Result.isFailure(tried)) return trouble("relay", weight, tried.failure.message, cure(tried.failure))
    const { tls } = tried.success
    const how = [tls ?? "in the clear", to.login === undefined ? "without a login" : `as ${to.login.user}`]
    return ok("relay", `${where} lets us in, ${how.join(", ")}`)
  })

const cure = ({ stage, trouble }: SmtpConnection.ConnectFailed): string => {
  if (stage === "auth") {
    return trouble === "reply"
      ? "Correct user and password in SMTP_URL; a character such as @ or / in them is written as %40 or %2F."
      : "The relay offers no login this side knows (PLAIN, LOGIN): leave the login out, or use another of its ports."
  }
  if (stage === "starttls" || trouble === "tls") {
    return "Its certificate must hold for the name in SMTP_URL; use smtps:// for port 465 and smtp:// for the others."
  }
  if (stage === "connect") {
    return trouble === "refused"
      ? "Nothing listens there: correct host and port in SMTP_URL."
      : "Correct the host in SMTP_URL, mend DNS, or let that port through the firewall."
  }
  return trouble === "reply"
    ? "The relay refuses this machine: read its reply, and have this address allowed there."
    : "No SMTP is spoken there: correct host and port in SMTP_URL; port 465 wants smtps://."
}
