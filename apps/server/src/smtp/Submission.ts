import type { PgClient } from "@effect/sql-pg"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as Address from "@waybill/domain/values/Address"
import * as ApiKeySecret from "@waybill/domain/account/ApiKeySecret"
import { permits } from "@waybill/domain/account/permits"
import * as Scope from "@waybill/domain/account/Scope"
import * as Uuid from "@waybill/domain/values/Uuid"
import * as Submitted from "@waybill/mail/reading/Submitted"
import * as Databases from "@waybill/store/routing/Databases"
import { Admission, type Verdict } from "@waybill/store/admission/Admission"
import type { AdmittedKey } from "@waybill/store/admission/AdmittedKey"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Provenance } from "@waybill/store/log/Provenance"
import * as ValidKeys from "@waybill/store/admission/ValidKeys"
import { Duration, Effect, Layer, Result } from "effect"
import { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import * as NewApiKeys from "../operate/NewApiKeys.ts"
import * as AcceptCommit from "../accept/AcceptCommit.ts"
import * as Send from "../accept/Send.ts"
import * as Warnings from "../accept/Warnings.ts"
import type { ListenerLimits } from "./ListenerLimits.ts"
import * as NewIds from "../process/NewIds.ts"
import * as InjectedFaults from "../requests/InjectedFaults.ts"
import * as Listener from "./Listener.ts"
import { ofRefusal, reply, type SmtpReply } from "./SmtpReply.ts"
import * as Replies from "./session/Replies.ts"
import type { SmtpClient, Transaction } from "./session/SessionHandlers.ts"
import type { Programs } from "../templates/Programs.ts"
import * as SubmittedEmail from "./submitted/SubmittedEmail.ts"

/** Maximum number of connections of a process. Each holds a socket and possibly a message. */
export const MAX_CONNECTIONS = 1000
export const MAX_CONNECTIONS_PER_ADDRESS = 200
/** Maximum number of connections without a login; the other slots are reserved for those with one. */
export const MAX_UNIDENTIFIED = 500
/** Maximum number of connections without a login of one IPv4 address or IPv6 /64. */
export const MAX_UNIDENTIFIED_PER_ADDRESS = 100
/** Maximum number of recipients, as in the API. An account's plan may allow fewer, which is checked after DATA. */
export const MAX_RECIPIENTS = 1000
export const IDLE = Duration.minutes(5)
export const MESSAGE_WITHIN = Duration.minutes(10)
export const LOGIN_WITHIN = Duration.minutes(1)
/** Time until a login while connections without one use more than half of their slots. */
export const LOGIN_WITHIN_CROWDED = Duration.seconds(10)
export const STOP_WITHIN = Duration.seconds(20)

export interface Options {
  readonly host: string
  readonly port: number
  readonly name: string
  /** Maximum size of a message, as of a request body of the API. */
  readonly maxMessageBytes: number
  /** Whether opens and clicks can be tracked. */
  readonly tracks: boolean
  /** Certificate; without it, clients log in from this machine only. */
  readonly tls?: Listener.Tls
  readonly limits?: Partial<ListenerLimits>
  readonly isLocal?: Listener.Options["isLocal"]
}

/** A login, held as the hash of its key, so that the key itself is in memory only while the client logs in. */
interface Login {
  readonly hash: string
  /** Key under which the current message was admitted. Each message is admitted by itself. */
  admitted: AdmittedKey | undefined
}

/** Accepts mail from mail programs that log in with an API key as the password. Returns the port. */
export const listen = ({ host, isLocal, limits, maxMessageBytes, name, port, tls, tracks }: Options) =>
  Listener.listen<Login, Admission | EventStore | PgClient.PgClient | Programs>(
    {
      host,
      port,
      name,
      strictLines: true,
      ...(tls === undefined ? {} : { tls }),
      ...(isLocal === undefined ? {} : { isLocal }),
      limits: {
        maxConnections: MAX_CONNECTIONS,
        maxConnectionsPerAddress: MAX_CONNECTIONS_PER_ADDRESS,
        maxUnidentified: MAX_UNIDENTIFIED,
        maxUnidentifiedPerAddress: MAX_UNIDENTIFIED_PER_ADDRESS,
        maxRecipients: MAX_RECIPIENTS,
        maxMessageBytes,
        idle: IDLE,
        message: MESSAGE_WITHIN,
        identifiedWithin: LOGIN_WITHIN,
        identifiedWithinCrowded: LOGIN_WITHIN_CROWDED,
        stopWithin: STOP_WITHIN,
        ...limits,
      },
    },
    { login, mail, recipient, message: (bytes, transaction) => message(bytes, transaction, tracks) },
  )

export const layer = (options: Options) =>
  Layer.effectDiscard(
    Effect.flatMap(listen(options), (port) =>
      Effect.logInfo("smtp submission is listening", {
        host: options.host,
        port,
        ...(options.tls?.port === undefined ? {} : { tls_port: options.tls.port }),
      }),
    ),
  )

const login = Effect.fn("Submission.login")(function* (
  password: string,
  { address }: SmtpClient,
): Effect.fn.Return<Login, SmtpReply | StoreUnavailable, Admission | PgClient.PgClient> {
  const hash = ApiKeySecret.isWellFormed(password) ? NewApiKeys.hashOf(password) : null
  if (hash !== null && (yield* ValidKeys.check(hash, address)) === "valid") return { hash, admitted: undefined }
  // Only failures count against the address, to limit guessing: a login itself is not a request.
  const admission = yield* Admission
  const verdict = yield* admission.admit({ tokenHash: hash, bucket: "send", address })
  if (verdict._tag === "Admitted" && hash !== null) return { hash, admitted: undefined }
  return yield* refuse(verdict, true)
})

/** Admits each message like an API request: checks the key, its networks, its expiry and its rate limit. */
const mail = Effect.fn("Submission.mail")(function* ({ address }: SmtpClient, login: Login | undefined) {
  if (login === undefined) return yield* reply(530, "5.7.0", "Log in first, with an API key as the password")
  login.admitted = undefined
  const admission = yield* Admission
  const verdict = yield* admission.admit({ tokenHash: login.hash, bucket: "send", address })
  if (verdict._tag !== "Admitted") return yield* refuse(verdict, false)
  if (!permits(verdict.key.scopes, "email:send"))
    return yield* ofRefusal(new Scope.MissingScope({ required_scope: "email:send" }))
  const fault = yield* InjectedFaults.take
  if (fault !== undefined) return yield* ofRefusal(fault)
  login.admitted = verdict.key
})

const refuse = (verdict: Verdict, loggingIn: boolean): Effect.Effect<never, SmtpReply> => {
  if (verdict._tag === "RateLimited")
    return Effect.fail(
      loggingIn
        ? reply(421, "4.7.0", `Too many failed logins from this address. ${verdict.refusal.message}`)
        : ofRefusal(verdict.refusal),
    )
  const reason = verdict._tag === "Unauthorized" ? verdict.reason : "unknown"
  // The API's message for a missing key is about a header; here it is a password.
  return Effect.fail(
    reason === "missing"
      ? reply(535, "5.7.8", "The password is not an API key. Any user name will do")
      : ofRefusal(new RequestRefusal.Unauthorized({ why: reason })),
  )
}

const recipient = (text: string): Effect.Effect<void, SmtpReply> => {
  const parsed = Address.parseAddress(text)
  return Result.isSuccess(parsed) ? Effect.void : Effect.fail(reply(553, "5.1.3", `The address ${parsed.failure}`))
}

const TOO_LARGE = [552, "5.3.4"] as const
const UNREADABLE: { readonly [reason: string]: readonly [code: number, enhanced: string] } = {
  empty_multipart: [554, "5.6.0"],
  header_without_colon: [554, "5.6.0"],
  long_line: [554, "5.6.0"],
  nested_groups: [554, "5.6.0"],
  too_slow: [554, "5.6.0"],
  unknown_charset: [554, "5.6.3"],
  unknown_encoding: [554, "5.6.3"],
}

const BUSY = reply(451, "4.3.2", "Too many messages wait to be parsed, please try again in a moment")

const message = Effect.fn("Submission.message")(function* (
  bytes: Buffer,
  transaction: Transaction<Login>,
  tracks: boolean,
) {
  const { login } = transaction
  const key = login.admitted
  login.admitted = undefined
  if (key === undefined) return yield* reply(503, "5.5.1", "MAIL was not accepted")
  return yield* Databases.ofAccount(key.account_id, submit(bytes, transaction, key, tracks))
})

/** Accepts a message in the database of its account. */
const submit = Effect.fnUntraced(function* (
  bytes: Buffer,
  { address, from, login, recipients }: Transaction<Login>,
  key: AdmittedKey,
  tracks: boolean,
) {
  const submitted = yield* Effect.mapError(Submitted.parse(bytes, key.account_id), (error) =>
    error._tag === "Busy" ? BUSY : reply(...(UNREADABLE[error.reason] ?? TOO_LARGE), error.message),
  )
  const envelope = { from, recipients: recipients.map((each) => Result.getOrThrow(Address.parseAddress(each))) }
  const read = yield* Effect.mapError(SubmittedEmail.read(submitted, envelope), ofRefusal)
  // A body may take minutes to arrive, and the key may have been revoked meanwhile.
  const verdict = yield* ValidKeys.check(login.hash, address)
  if (verdict !== "valid") return yield* ofRefusal(new RequestRefusal.Unauthorized({ why: verdict }))
  const request_id = yield* NewIds.newId("RequestId")
  const provenance = {
    actor: { type: "api_key", id: key.id },
    request_id,
    correlation_id: request_id,
    causation_id: null,
    address,
  } as const
  const caller = yield* callerOf(key, read.idempotency, tracks)
  const { answer, commands, isReplayed } = yield* Send.send(caller, [read.email], AcceptCommit.acknowledge).pipe(
    Effect.provideService(Provenance, provenance),
    Effect.mapError((refusal) => (refusal instanceof StoreUnavailable ? refusal : ofRefusal(refusal))),
  )
  // Symfony and Laravel read the id from a line that ends as the first does, and PHPMailer from the last one.
  return [
    Replies.line("2.0.0", `Accepted: 250 Ok ${Uuid.of(answer.id) ?? ""}`),
    ...Warnings.notesOf(commands[0]).map((note) => Replies.line("2.0.0", `Warning: ${note}`)),
    Replies.line("2.0.0", `Ok: queued as ${answer.id}${isReplayed ? " (idempotent replay)" : ""}`),
  ].join("\n")
})

/** Distinct from every route of the API: the same key used over SMTP and over HTTP is two requests. */
const ROUTE = "SMTP DATA"

/** The fingerprint includes the domain that the key is bound to, so that another key does not learn of the message. */
const callerOf = (
  key: AdmittedKey,
  request: { readonly key: string; readonly fingerprint: string } | undefined,
  tracks: boolean,
): Effect.Effect<Send.Caller, never, EventStore> => {
  const { account_id, domain } = key
  const idempotency = request && {
    account_id,
    route: ROUTE,
    key: request.key,
    fingerprint: domain === null ? request.fingerprint : `${request.fingerprint} ${domain}`,
  }
  return Effect.map(EventStore, (store) => ({
    sender: { account_id, key, tracks },
    target: { store, account_id, idempotency },
  }))
}
