import type { PgClient } from "@effect/sql-pg"
import * as Address from "@waybill/domain/values/Address"
import type * as Dns from "@waybill/mail/dns/Dns"
import * as Report from "@waybill/mail/reading/Report"
import * as ReportParts from "@waybill/mail/report/ReportParts"
import * as ReturnPath from "@waybill/mail/tokens/ReturnPath"
import * as Databases from "@waybill/store/routing/Databases"
import * as EmailAccounts from "@waybill/store/routing/EmailAccounts"
import type { EventStore } from "@waybill/store/commit/EventStore"
import * as UnreadReports from "@waybill/store/content/UnreadReports"
import { Duration, Effect, Option, Result } from "effect"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import * as NewIds from "../process/NewIds.ts"
import type { MailAddress } from "../settings/Instance.ts"
import { isEveryAddress } from "../settings/Settings.ts"
import type { ListenerLimits } from "./ListenerLimits.ts"
import * as Listener from "./Listener.ts"
import * as ReceivedDomainReports from "./ReceivedDomainReports.ts"
import * as Feedback from "./Feedback.ts"
import * as InboundMail from "./InboundMail.ts"
import { type About, recordReport } from "../worker/delivery/recordReport.ts"
import { reply, REPORTS_BUSY, type SmtpReply, TOO_EARLY } from "./SmtpReply.ts"
import * as Replies from "./session/Replies.ts"
import type { Transaction } from "./session/SessionHandlers.ts"

export const MAX_CONNECTIONS = 500
export const MAX_CONNECTIONS_PER_ADDRESS = 50
/** Maximum number of connections without an accepted recipient; the other slots are reserved for those with one. */
export const MAX_UNIDENTIFIED = 400
export const MAX_UNIDENTIFIED_PER_ADDRESS = 25
/** Maximum size of a report. Some servers return the whole message, whose files have at most 40 MiB before encoding. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024
export const IDLE = Duration.minutes(5)
export const MESSAGE_WITHIN = Duration.minutes(10)
export const CONNECTED_WITHIN = Duration.minutes(30)
/** Time until the first recipient while connections without one use more than half of their slots. */
export const RECIPIENT_WITHIN_CROWDED = Duration.seconds(30)
export const STOP_WITHIN = Duration.seconds(20)

export interface Options<R = never> {
  readonly host: string
  readonly port: number
  readonly name: string
  readonly returnPath: {
    readonly domain: string
    /** The key that makes return paths, and earlier ones, since mail sent under them may still bounce. */
    readonly secretKeys: ReadonlyArray<Uint8Array>
  }
  readonly tls?: Listener.Tls
  readonly limits?: Partial<ListenerLimits>
  /** Receives all other mail. */
  readonly inbound: InboundMail.OtherMail<R>
}

/**
 * Receives bounces and complaints, at addresses that only this instance can have made, reports at a few well-known addresses,
 * and the mail of `inbound`. Returns the port.
 */
export const listen = <R = never>({ host, inbound, limits, name, port, returnPath, tls }: Options<R>) =>
  Listener.listen<never, EventStore | PgClient.PgClient | Dns.Dns | R>(
    {
      host,
      port,
      name,
      // Reports are not passed on, and old servers send other line ends.
      strictLines: false,
      keep: ({ address, recipients }) =>
        recipients.some((recipient) => !isReporting(returnPath, recipient))
          ? inbound.keep(address)
          : recipients.some((recipient) => ReceivedDomainReports.isAddress(roleOf(returnPath, recipient) ?? ""))
            ? { bytes: ReceivedDomainReports.KEEP_BYTES, maxHeld: ReceivedDomainReports.MAX_BYTES_HELD }
            : { bytes: ReportParts.REPORT_SIZE_LIMIT },
      ...(tls === undefined ? {} : { tls }),
      limits: {
        maxConnections: MAX_CONNECTIONS,
        maxConnectionsPerAddress: MAX_CONNECTIONS_PER_ADDRESS,
        maxUnidentified: MAX_UNIDENTIFIED,
        maxUnidentifiedPerAddress: MAX_UNIDENTIFIED_PER_ADDRESS,
        maxRecipients: InboundMail.MAX_RECIPIENTS,
        maxMessageBytes: MAX_MESSAGE_BYTES,
        idle: IDLE,
        message: MESSAGE_WITHIN,
        identifiedWithin: CONNECTED_WITHIN,
        identifiedWithinCrowded: RECIPIENT_WITHIN_CROWDED,
        stopWithin: STOP_WITHIN,
        ...limits,
      },
    },
    {
      login: undefined,
      mail: () => Effect.void,
      recipient: (address, client) =>
        isReporting(returnPath, address)
          ? Effect.void
          : Effect.flatMap(inbound.receives(address, client), (receives) =>
              receives ? Effect.void : Effect.fail(NO_SUCH_ADDRESS),
            ),
      identifies: (address) => Option.isSome(bouncedAt(returnPath, address)),
      message: (bytes, transaction) => {
        const [reporting, others] = apart(returnPath, transaction.recipients)
        if (others.length === 0) return receive(returnPath, bytes, transaction)
        const received = inbound.message(bytes, transaction, others)
        return reporting.length === 0
          ? received
          : Effect.andThen(receive(returnPath, bytes, { ...transaction, recipients: reporting }), received)
      },
    },
  )

/** Listens as a service does, and returns the address. */
export const start = <R = never>(options: Options<R>) =>
  Effect.flatMap(listen(options), (port) => {
    const { host, returnPath } = options
    const listening = Effect.logInfo("mail listener is listening", { host, port, domain: returnPath.domain })
    return Effect.as(listening, { host: isEveryAddress(host) ? null : host, port } satisfies MailAddress)
  })

const NO_SUCH_ADDRESS = reply(550, "5.1.1", "There is no such address here")

type Recipients = ReadonlyArray<string>

/** Whether an address is one for reports. */
const isReporting = (returnPath: Options["returnPath"], address: string): boolean =>
  Option.isSome(bouncedAt(returnPath, address)) || roleOf(returnPath, address) !== undefined

/** Returns the recipients that are for reports, and the others. */
const apart = (returnPath: Options["returnPath"], recipients: Recipients): readonly [Recipients, Recipients] => [
  recipients.filter((recipient) => isReporting(returnPath, recipient)),
  recipients.filter((recipient) => !isReporting(returnPath, recipient)),
]

const bouncedAt = ({ domain, secretKeys }: Options["returnPath"], text: string): Option.Option<ReturnPath.Bounced> => {
  const parsed = Address.parseAddress(text)
  if (Result.isFailure(parsed) || Address.domainOf(parsed.success) !== domain.toLowerCase()) return Option.none()
  for (const key of secretKeys) {
    const bounced = ReturnPath.verify(key, Address.localOf(parsed.success))
    if (Option.isSome(bounced)) return bounced
  }
  return Option.none()
}

/** The name of an address for feedback or aggregate reports, at the domain of return paths. */
const roleOf = ({ domain }: Options["returnPath"], text: string): string | undefined => {
  const at = text.lastIndexOf("@")
  const local = text.slice(0, Math.max(0, at))
  const isKnown = Feedback.isRole(local) || ReceivedDomainReports.isAddress(local)
  return text.slice(at + 1).toLowerCase() === domain.toLowerCase() && isKnown ? local.toLowerCase() : undefined
}

/**
 * Records a report. Mail that is not a usable report is accepted and dropped, since a refusal would make its server report
 * about the report. A report whose parsing was ended is kept unread for an operator. If there is no capacity for that, or
 * too many reports wait to be parsed, the server is asked to try again later.
 */
const receive = Effect.fn("MailListener.receive")(function* (
  returnPath: Options["returnPath"],
  whole: Buffer,
  { address, recipients }: Transaction<never>,
): Effect.fn.Return<string, SmtpReply | StoreUnavailable, EventStore | PgClient.PgClient | Dns.Dns> {
  const roles = recipients.flatMap((recipient) => roleOf(returnPath, recipient) ?? [])
  if (roles.some(ReceivedDomainReports.isAddress)) yield* ReceivedDomainReports.receive(whole, { address })
  const bytes = whole.subarray(0, ReportParts.REPORT_SIZE_LIMIT)
  if (roles.some(Feedback.isRole))
    yield* Feedback.receive(returnPath.secretKeys, bytes, { address, isLoop: roles.includes(Feedback.LOOP) })
  const subjects = yield* Effect.forEach(
    recipients.flatMap((recipient) => Option.toArray(bouncedAt(returnPath, recipient))),
    (bounced) => subjectOf(bounced, address),
  )
  const reported = subjects.flatMap((subject) => Option.toArray(subject))
  const [first] = reported
  if (first === undefined) return THANKS
  const facts = yield* read(bytes, first)
  if (facts._tag === "Unread") return yield* keep(bytes, facts.why, reported)
  for (const about of reported) {
    const fields = { email_id: about.emailId, from: address }
    if (facts._tag === "NotAReport") {
      yield* Effect.logInfo("mail to a return path was dropped; it is not a report", {
        ...fields,
        reason: facts.reason,
      })
      continue
    }
    const recorded = yield* Effect.catchTag(recordReport(about, facts.facts), "TooEarly", () => TOO_EARLY)
    if (recorded === 0) yield* Effect.logInfo("report was dropped; it has nothing new", fields)
  }
  return THANKS
})

const THANKS = Replies.line("2.6.0", "Thank you")

const subjectOf = Effect.fnUntraced(function* (bounced: ReturnPath.Bounced, address: string) {
  const account_id = yield* EmailAccounts.accountOf(bounced.accountStart, bounced.emailId)
  if (Option.isNone(account_id)) {
    const about = { email_id: bounced.emailId, from: address }
    yield* Effect.logInfo("report was dropped; its email is unknown", about)
  }
  return Option.map(account_id, (account_id): About => ({ ...bounced, account_id, address }))
})

const UNREAD = reply(451, "4.3.0", "The report could not be read, please try again later")

/** Parses a report, in a queue of its account that is separate from that of its submitted mail. */
const read = Effect.fnUntraced(function* (bytes: Buffer, { account_id }: About) {
  const read = yield* Effect.result(Report.parse(bytes, `reports of ${account_id}`))
  if (Result.isSuccess(read)) return { _tag: "Report" as const, facts: read.success }
  return read.failure._tag === "Busy" ? yield* REPORTS_BUSY : read.failure
})

/** Keeps a report whose parsing was ended, for each return path that it was sent to. */
const keep = Effect.fnUntraced(function* (bytes: Buffer, reason: UnreadReports.Reason, reported: ReadonlyArray<About>) {
  const addressed = yield* Effect.forEach(reported, ({ account_id, address, emailId, recipientIndex, scope = null }) =>
    Effect.map(NewIds.newId("UnreadReportId"), (id) => ({
      id,
      account_id,
      email_id: emailId,
      recipient_index: recipientIndex,
      scope,
      address,
    })),
  )
  const fields = {
    email_ids: reported.map(({ emailId }) => emailId),
    from: reported[0]?.address,
    code: reason,
    size_bytes: bytes.length,
  }
  const ids = yield* Effect.forEach(yield* Databases.group(addressed), ({ rows, run }) =>
    run(UnreadReports.keep({ bytes, reason, addressed: rows })),
  ).pipe(
    Effect.map((kept) => kept.flat()),
    Effect.tapErrorTag("Full", () =>
      Effect.logWarning("report could not be parsed and was not kept unread; its server will try again", fields),
    ),
    Effect.catchTag("Full", () => UNREAD),
  )
  yield* ids.length === 0
    ? Effect.logInfo("report could not be parsed and was dropped; its email was removed meanwhile", fields)
    : Effect.logWarning("report could not be parsed; it is kept unread", { ...fields, ids })
  return THANKS
})
