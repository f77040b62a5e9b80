import * as Dns from "@waybill/mail/dns/Dns"
import * as SmtpConnection from "@waybill/mail/smtp/SmtpConnection"
import { Effect, Result } from "effect"
import { type Finding, ok, trouble, warning, type Weight } from "./Finding.ts"

/** Who takes the most mail: if none of them can be reached, it is this side that is shut in. */
export const PROBES = ["gmail.com", "outlook.com"]
export const SMTP_PORT = 25
const TIMEOUTS = { connect_ms: 8_000, greeting_ms: 15_000, ehlo_ms: 15_000, tls_ms: 15_000 }

export interface Host {
  readonly host: string
  readonly port: number
}

/** Whether other mail servers let this machine in: as far as EHLO, and no mail is begun. */
export const port25 = (
  given: ReadonlyArray<Host>,
  name: string,
  weight: Weight,
): Effect.Effect<Finding, never, Dns.Dns> =>
  Effect.gen(function* () {
    const hosts = given.length > 0 ? given : yield* servers
    if (hosts.length === 0) {
      return trouble(
        "port 25",
        weight,
        "no mail server could be found to try it with",
        "Mend DNS first, then ask again.",
      )
    }
    const tried = yield* Effect.forEach(hosts, (host) => Effect.result(knock(host, name)), { concurrency: "unbounded" })
    const open = tried.filter(Result.isSuccess).map(({ success }) => success)
    const shut = tried.filter(Result.isFailure).map(({ failure }) => failure)
    const answered = shut.filter(({ stage, trouble }) => stage !== "connect" && trouble === "reply")
    if (answered.length > 0) {
      return warning(
        "port 25",
        `open, but ${answered.map(({ message }) => message).join("; ")}`,
        "Read that reply: it mostly means that this address is on a block list, or has no PTR record.",
      )
    }
    if (open.length > 0) return ok("port 25", `open: ${open.join(", ")} answered`)
    return trouble(
      "port 25",
      weight,
      `closed: ${shut.map(({ message }) => message).join("; ")}`,
      "Ask your provider to open outgoing TCP port 25 (most close it), or send by a relay: TRANSPORT=relay.",
    )
  })

const servers = Effect.gen(function* () {
  const dns = yield* Dns.Dns
  const found = yield* Effect.forEach(PROBES, (domain) => dns.mx(domain), { concurrency: "unbounded" })
  return found.flatMap((answer): ReadonlyArray<Host> => {
    const [best] = answer._tag === "Found" ? answer.records : []
    return best === undefined || best.exchange === "" ? [] : [{ host: best.exchange, port: SMTP_PORT }]
  })
})

const knock = ({ host, port }: Host, name: string) =>
  Effect.scoped(
    Effect.acquireRelease(
      SmtpConnection.open({
        host,
        address: host,
        port,
        name,
        tls: { mode: "opportunistic", verify: false },
        timeouts: TIMEOUTS,
      }),
      (connection) => connection.quit,
    ).pipe(Effect.as(`${host}:${port}`)),
  )
