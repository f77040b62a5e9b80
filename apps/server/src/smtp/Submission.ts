import type { PgClient } from "@effect/sql-pg"
import { Unauthorized } from "@waybill/api/errors/RequestRefusal"
import * as Address from "@waybill/domain/values/Address"
import * as ApiKeySecret from "@waybill/domain/account/ApiKeySecret"
import * as Scope from "@waybill/domain/account/Scope"
import * as Submitted from "@waybill/mail/incoming/Submitted"
import { Admission, type Key, type Verdict } from "@waybill/store/admission/Admission"
import type { EventStore } from "@waybill/store/commit/EventStore"
import * as KeyStanding from "@waybill/store/admission/KeyStanding"
import { Duration, Effect, Layer, Option, Result } from "effect"
import { hashOf } from "../operate/apiKeys.ts"
import { acceptSubmitted } from "../accept/acceptSubmitted.ts"
import * as Listener from "./Listener.ts"
import { line, ofRefusal, reply, type SmtpReply } from "./SmtpReply.ts"
import * as SubmittedEmail from "../accept/SubmittedEmail.ts"

/** All at once in one process; each holds a socket and, in the middle of a message, that message. */
export const MAX_CONNECTIONS = 1000
export const MAX_CONNECTIONS_PER_ADDRESS = 200
/** Connections without a login, over all; the other places are kept for those that have logged in. */
export const MAX_STRANGERS = 500
/** Connections without a login, of one address or one IPv6 /64. */
export const MAX_STRANGERS_PER_ADDRESS = 100
/** As many as the API takes in all fields together; an account's plan usually allows fewer, which is said after DATA. */
export const MAX_RECIPIENTS = 1000
export const IDLE = Duration.minutes(5)
export const MESSAGE_WITHIN = Duration.minutes(10)
export const LOGIN_WITHIN = Duration.minutes(1)
/** While connections without a login have more than half of their places. */
export const LOGIN_WITHIN_CROWDED = Duration.seconds(10)
export const STOP_WITHIN = Duration.seconds(20)

export interface Options {
  readonly host: string
  readonly port: number
  readonly name: string
  /** The same number as for a request body of the API. */
  readonly maxMessageBytes: number
  /** Whether opens and clicks can be told, as over HTTP. */
  readonly tracks: boolean
  /** Without it keys are taken from this machine only. */
  readonly tls?: Listener.Tls
  readonly limits?: Partial<Listener.Limits>
  readonly isLocal?: Listener.Options["isLocal"]
}

/** Who is speaking: known by a hash, so that the key itself is in no memory longer than the login takes. */
interface Login {
  readonly hash: string
  /** Of the message that has begun; each message is let in by itself. */
  admitted: Key | undefined
}

/** Mail programs hand in mail here: any user name, an API key as the password. Answers with the port. */
export const listen = ({ host, isLocal, limits, maxMessageBytes, name, port, tls, tracks }: Options) =>
  Listener.listen<Login, Admission | EventStore | PgClient.PgClient>(
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
        maxStrangers: MAX_STRANGERS,
        maxStrangersPerAddress: MAX_STRANGERS_PER_ADDRESS,
        maxRecipients: MAX_RECIPIENTS,
        maxMessageBytes,
        idle: IDLE,
        message: MESSAGE_WITHIN,
        stranger: LOGIN_WITHIN,
        strangerInCrowd: LOGIN_WITHIN_CROWDED,
        stopWithin: STOP_WITHIN,
        ...limits,
      },
    },
    { login, mail, recipient, message: (bytes, transaction) => message(bytes, transaction, tracks) },
  )

export const layer = (options: Options) =>
  Layer.effectDiscard(
    Effect.flatMap(listen(options), (port) =>
      Effect.logInfo("SMTP submission is listening", { host: options.host, port }),
    ),
  )

const login = Effect.fn("Submission.login")(function* (
  password: string,
  { address }: Listener.Client,
): Effect.fn.Return<Login, SmtpReply, Admission | PgClient.PgClient> {
  const hash = ApiKeySecret.isWellFormed(password) ? hashOf(password) : null
  if (hash !== null && Option.isSome(yield* KeyStanding.valid(hash, address))) return { hash, admitted: undefined }
  // Only a failure is counted, in the window of the address: a login is no request, guessing is.
  const admission = yield* Admission
  const verdict = yield* admission.admit({ tokenHash: hash, bucket: "send", address })
  if (verdict._tag === "Admitted" && hash !== null) return { hash, admitted: undefined }
  return yield* refuse(verdict, true)
})

/** A message is what a request is over HTTP: the key, its addresses, its expiry and its window are asked each time. */
const mail = Effect.fn("Submission.mail")(function* ({ address }: Listener.Client, login: Login | undefined) {
  if (login === undefined) return yield* reply(530, "5.7.0", "Log in first, with an API key as the password")
  login.admitted = undefined
  const admission = yield* Admission
  const verdict = yield* admission.admit({ tokenHash: login.hash, bucket: "send", address })
  if (verdict._tag !== "Admitted") return yield* refuse(verdict, false)
  if (!Scope.permits(verdict.key.scopes, "email:send"))
    return yield* ofRefusal(new Scope.MissingScope({ required_scope: "email:send" }))
  login.admitted = verdict.key
})

const refuse = (verdict: Verdict, loggingIn: boolean): Effect.Effect<never, SmtpReply> => {
  if (verdict._tag === "RateLimited")
    return Effect.fail(
      loggingIn
        ? reply(421, "4.7.0", `Too many failed logins from this address. ${verdict.refusal.message}`)
        : ofRefusal(verdict.refusal),
    )
  const why = verdict._tag === "Unauthorized" ? verdict.reason : "unknown"
  // The API's words for a missing key speak of a header; here it is a password.
  return Effect.fail(
    why === "missing"
      ? reply(535, "5.7.8", "The password is not an API key. Any user name will do")
      : ofRefusal(new Unauthorized({ why })),
  )
}

const recipient = (text: string): Effect.Effect<void, SmtpReply> => {
  const parsed = Address.parseAddress(text)
  return Result.isSuccess(parsed) ? Effect.void : Effect.fail(reply(553, "5.1.3", `The address ${parsed.failure}`))
}

const TOO_MUCH = [552, "5.3.4"] as const
const UNREADABLE: { readonly [reason: string]: readonly [code: number, enhanced: string] } = {
  hollow: [554, "5.6.0"],
  sealed: [554, "5.6.1"],
  nested_groups: [554, "5.6.0"],
  too_slow: [554, "5.6.0"],
}

const BUSY = reply(451, "4.3.2", "Too much mail is being read at once, please try again in a moment")

const GONE = reply(535, "5.7.8", "api_key_invalid: This API key does not hold any more")

const message = Effect.fn("Submission.message")(function* (
  bytes: Buffer,
  transaction: Listener.Transaction<Login>,
  tracks: boolean,
) {
  const { address, from, login, recipients } = transaction
  const key = login.admitted
  login.admitted = undefined
  if (key === undefined) return yield* reply(503, "5.5.1", "MAIL was not accepted")
  const submitted = yield* Effect.mapError(Submitted.parse(bytes, key.account_id), (error) =>
    error._tag === "Busy" ? BUSY : reply(...(UNREADABLE[error.reason] ?? TOO_MUCH), error.message),
  )
  const envelope = { from, recipients: recipients.map((each) => Result.getOrThrow(Address.parseAddress(each))) }
  const read = yield* Effect.mapError(SubmittedEmail.read(submitted, envelope), ofRefusal)
  // A body may take minutes to come in. A key that was revoked meanwhile sends nothing.
  if (Option.isNone(yield* KeyStanding.valid(login.hash, address))) return yield* GONE
  const sender = { account_id: key.account_id, key, address, tracks }
  const ack = yield* Effect.mapError(acceptSubmitted(sender, read), ofRefusal)
  return line("2.6.0", `Queued as ${ack.answer.id}${ack.isReplayed ? " (idempotent replay)" : ""}`)
})
