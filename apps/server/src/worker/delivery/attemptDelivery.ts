import type * as EmailState from "@waybill/domain/email/EmailState"
import * as Script from "@waybill/domain/email/Script"
import type * as Recipient from "@waybill/domain/email/Recipient"
import { messageHash } from "@waybill/mail/dkim/messageHash"
import type { Category } from "@waybill/mail/reply/Category"
import * as Transport from "@waybill/mail/transport/Transport"
import * as PendingDeliveries from "@waybill/store/facts/PendingDeliveries"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import { Data, Duration, Effect, Result } from "effect"
import { collectOutcomes } from "./collectOutcomes.ts"
import type { Attempted } from "./evaluateAttempts.ts"
import * as OutgoingMessages from "./OutgoingMessages.ts"
import type { PipelineJob } from "../Pipeline.ts"
import { SigningKeys } from "./SigningKeys.ts"
import { Transports } from "./Transports.ts"

/** Maximum time of an attempt. For recipients without an outcome by then, the reply counts as lost. */
export const ATTEMPT_LIMIT = Duration.minutes(10)

export interface AttemptOptions extends OutgoingMessages.Sender {
  /** Shortened by tests. */
  readonly attemptLimit?: Duration.Duration
  /** Scripts by address, in lower case, for mail without a script of its own; set by an instance of a test suite. */
  readonly scripts?: ReadonlyMap<string, Script.Script> | undefined
}

type Pending = PendingDeliveries.PendingDelivery
type Recipients = ReadonlyArray<Recipient.Recipient>

/** Why nothing could be sent: another process takes the row, or the message never can be. */
export type AttemptFailure = OutgoingMessages.Unsendable | StoreUnavailable | "not started"

/** A reason of this instance for which nothing can be sent yet. The recipients are deferred. */
class NotReady extends Data.TaggedError("NotReady")<{ readonly category: Category; readonly message: string }> {}

/** Chooses the transport, composes and signs the message, sends it to these recipients, and returns the outcomes. */
export const attemptDelivery = Effect.fnUntraced(
  function* (job: PipelineJob, pending: Pending, recipients: Recipients, options: AttemptOptions) {
    const { account_id } = job.row
    const transport = yield* transportOf(account_id, pending)
    const keys = yield* keysOf(account_id, pending, transport.kind)
    const composed = yield* compose(account_id, pending, options, keys)
    const attempted = yield* send(job, pending.message, recipients, transport, composed, options)
    return yield* withHash(attempted, composed.bytes)
  },
  (attempting, _job, _pending, recipients) =>
    Effect.catchIf(
      attempting,
      (error) => error instanceof NotReady,
      (error) => Effect.succeed(deferAll(recipients, error)),
    ),
)

const transportOf = (account_id: string, { domain, message }: Pending) =>
  Effect.flatMap(Transports, ({ choose, test }) => {
    const transport = PendingDeliveries.isTest(account_id, message) ? test : choose(domain?.transport ?? null)
    return transport === undefined
      ? notReady("not_configured", `this instance has no transport "${domain?.transport}"`)
      : Effect.succeed(transport)
  })

const keysOf = Effect.fnUntraced(function* (
  account_id: string,
  { domain }: Pending,
  kind: Transport.Transport["Service"]["kind"],
) {
  const keys = domain === null ? [] : yield* (yield* SigningKeys).of(account_id, domain)
  // Only mail of the sandbox, which stays on this machine, may go without a signature.
  return keys.length > 0 || kind === "capture"
    ? keys
    : yield* notReady("signing", "the domain's DKIM key could not be opened")
})

const notReady = (category: Category, message: string) => Effect.fail(new NotReady({ category, message }))

const compose = (...message: Parameters<typeof OutgoingMessages.composeAndSign>) =>
  Effect.mapError(OutgoingMessages.composeAndSign(...message), (error) =>
    error._tag === "SigningFailed" ? new NotReady({ category: "signing", message: error.message }) : error,
  )

const withHash = (attempted: ReadonlyArray<Attempted>, bytes: Uint8Array): Effect.Effect<ReadonlyArray<Attempted>> =>
  attempted.some(isHandedOver)
    ? Effect.map(
        Effect.promise(() => messageHash(bytes)),
        (message_sha256) => attempted.map((each) => (isHandedOver(each) ? { ...each, message_sha256 } : each)),
      )
    : Effect.succeed(attempted)

/** Sends the message in one transaction for each number of attempts. */
const send = Effect.fnUntraced(function* (
  job: PipelineJob,
  message: EmailState.AcceptedEmail,
  recipients: Recipients,
  transport: Transport.Transport["Service"],
  composed: Pick<Transport.OutgoingMessage, "bytes" | "smtpUtf8">,
  options: AttemptOptions,
) {
  const { account_id } = job.row
  const { domain_id = null, email_id, subject } = message.accepted
  let refused = false
  const mail = {
    ...composed,
    emailId: email_id,
    mailFrom: (to: ReadonlyArray<string>) => OutgoingMessages.returnPathFor(options, account_id, message, to),
    mayBegin: () => {
      const started = job.start()
      refused ||= !started
      return started
    },
    owner: { account_id, domain_id },
    subject,
    scriptOf: scriptsOf(message, options),
  }
  const sending = (report: Transport.OutgoingMessage["report"]) =>
    [...Map.groupBy(recipients, ({ attempts }) => attempts)].map(([attempts, group]) =>
      transport.deliver(
        { ...mail, report, attempt: attempts + 1 },
        group.map(({ address }) => address),
      ),
    )
  const limit = options.attemptLimit ?? ATTEMPT_LIMIT
  const attempted = yield* collectOutcomes(job, recipients, { sending, limit })
  // Nothing has left this machine and the service stops, so another process can take the row at once.
  if (refused && attempted.every(({ outcome }) => outcome.no_attempt)) return yield* Effect.fail("not started" as const)
  return attempted
})

/** Returns the script of a test message, which was checked when the message was accepted, or those of its recipients. */
const scriptsOf = (
  { accepted: { script } }: EmailState.AcceptedEmail,
  { scripts }: AttemptOptions,
): Transport.OutgoingMessage["scriptOf"] => {
  if (script === undefined) return scripts === undefined ? NO_SCRIPT : (address) => scripts.get(address.toLowerCase())
  const own = Result.getOrThrow(Script.parse(script))
  return () => own
}

const NO_SCRIPT = () => undefined

const isHandedOver = ({ outcome: { status } }: Attempted): boolean => status === "delivered" || status === "sent"

const deferAll = (recipients: Recipients, { category, message }: NotReady): ReadonlyArray<Attempted> =>
  recipients.map((recipient) => ({
    recipient,
    outcome: Transport.deferred(recipient.address, Transport.NO_HOP, category, message),
  }))
