import * as Dns from "@waybill/mail/dns/Dns"
import * as SmtpConnection from "@waybill/mail/smtp/SmtpConnection"
import { Effect, Result } from "effect"
import * as Finding from "./Finding.ts"

const found = Finding.of("port 25")

/** Large receivers. If none of them can be reached, outgoing port 25 is closed. */
export const PROBES = ["gmail.com", "outlook.com"]
export const SMTP_PORT = 25
const TIMEOUTS = { connect_ms: 8_000, greeting_ms: 15_000, ehlo_ms: 15_000, tls_ms: 15_000 }

export interface Host {
  readonly host: string
  readonly port: number
}

/** Checks that other mail servers accept connections from this machine. It stops after EHLO and sends no mail. */
export const checkPort25 = Effect.fnUntraced(function* (
  targets: ReadonlyArray<Host>,
  name: string,
  weight: Finding.Severity,
) {
  const hosts = targets.length > 0 ? targets : yield* servers
  if (hosts.length === 0)
    return found.problem(weight, "no mail server was found to try", "Fix DNS first, then check again.")
  const tried = yield* Effect.forEach(hosts, (host) => Effect.result(connect(host, name)), {
    concurrency: "unbounded",
  })
  const open = tried.filter(Result.isSuccess).map(({ success }) => success)
  const shut = tried.filter(Result.isFailure).map(({ failure }) => failure)
  const answered = shut.filter(({ kind, stage }) => stage !== "connect" && kind === "reply")
  if (answered.length > 0)
    return found.warning(
      `open, but ${answered.map(({ message }) => message).join("; ")}`,
      "Read that reply: usually this address is on a block list or has no PTR record.",
    )
  if (open.length > 0) return found.ok(`open: ${open.join(", ")} answered`)
  return found.problem(
    weight,
    `closed: ${shut.map(({ message }) => message).join("; ")}`,
    "Ask your provider to open outgoing TCP port 25, which most block, or use a relay: TRANSPORT=relay.",
  )
})

const servers = Effect.gen(function* () {
  const dns = yield* Dns.Dns
  const answers = yield* Effect.forEach(PROBES, (domain) => dns.mx(domain), { concurrency: "unbounded" })
  return answers.flatMap((answer): ReadonlyArray<Host> => {
    const [best] = answer._tag === "Found" ? answer.records : []
    return best === undefined || best.exchange === "" ? [] : [{ host: best.exchange, port: SMTP_PORT }]
  })
})

const connect = ({ host, port }: Host, name: string) =>
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
