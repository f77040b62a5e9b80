import * as MonotonicClock from "@waybill/domain/values/MonotonicClock"
import { Effect, Layer, Result, Semaphore } from "effect"
import type { Transporter } from "nodemailer"
import * as ProviderError from "../provider/ProviderError.ts"
import * as ProviderModule from "../provider/ProviderModule.ts"
import * as ProviderRules from "../provider/ProviderRules.ts"
import * as Secrets from "../provider/Secrets.ts"
import * as Cooldown from "../site/Cooldown.ts"
import type { OutgoingMessage, RecipientOutcome } from "./Transport.ts"
import * as Transport from "./Transport.ts"

/** Messages that are handed over at once. */
export const CONCURRENT_MESSAGES = 10
/** Time after which a transport that does not answer is given up. It may have taken the message. */
export const HAND_OVER_LIMIT_MS = 5 * 60_000
/** First pause after a provider has limited the rate, if its rule names none. */
const FIRST_PAUSE_MS = 1_000

export interface Options {
  /** `ses`, `sendmail`, a package or a file. */
  readonly module: string
  readonly options: ProviderModule.Options
  readonly limit_ms?: number
}

/** Hands mail over to a transport of nodemailer. */
export const layer = ({ limit_ms, module, options }: Options) =>
  Layer.effect(
    Transport.Transport,
    Effect.gen(function* () {
      const transporter = yield* Effect.acquireRelease(ProviderModule.load(module, options), (each) =>
        Effect.sync(() => each.close()),
      )
      return make(module, transporter, limit_ms, Secrets.maskOf(options))
    }),
  )

export const make = (
  name: string,
  transporter: Transporter,
  limit_ms = HAND_OVER_LIMIT_MS,
  mask = Secrets.NOTHING,
): Transport.Transport["Service"] => {
  const slots = Semaphore.makeUnsafe(CONCURRENT_MESSAGES)
  let cooldown = Cooldown.start(CONCURRENT_MESSAGES, FIRST_PAUSE_MS)
  const handOver = Effect.fnUntraced(function* (message: OutgoingMessage, recipients: ReadonlyArray<string>) {
    const mayBegin = yield* Transport.MayBegin
    const startedAt = yield* MonotonicClock.millis
    const pause = Cooldown.remaining(cooldown, startedAt)
    if (pause > 0) {
      const response = `${name} requested a pause; ${Math.ceil(pause / 1_000)} s remain`
      return recipients.map((recipient) => Transport.notAttempted(recipient, null, pause, response))
    }
    if (!mayBegin()) return recipients.map(Transport.notStarted)
    const envelope = { from: message.mailFrom(recipients), to: [...recipients] }
    const sent = yield* Effect.result(sendMail(transporter, envelope, message.bytes, limit_ms))
    const now = yield* MonotonicClock.millis
    const hop = { mx: null, tls: null, duration_ms: now - startedAt }
    if (Result.isSuccess(sent)) {
      cooldown = Cooldown.accepted(cooldown, CONCURRENT_MESSAGES)
      const own = new Map(refusalsIn(sent.success))
      return recipients.map((recipient) =>
        // It has taken the message, whatever its answer is: an error here would send the message again.
        attempt(
          () => outcomeOf(recipient, sent.success, own.get(recipient), hop, recipients.length > 1),
          () => Transport.handedOver(recipient, hop, ACCEPTED),
        ),
      )
    }
    if (sent.failure === NO_ANSWER) {
      const response = `no answer of ${name} within ${Math.round(limit_ms / 1_000)} s`
      return recipients.map((recipient) => Transport.deferred(recipient, hop, "lost_answer", response))
    }
    const error = readError(sent.failure)
    if (error._tag === "Rule" && error.rule.action === "throttle") {
      cooldown = Cooldown.throttled(cooldown, now, Math.max(error.rule.pause_ms ?? 0, error.retry_after_ms ?? 0))
      const wait = Cooldown.remaining(cooldown, now)
      return recipients.map((recipient) => Transport.notAttempted(recipient, null, wait, error.text))
    }
    const own = new Map(refusalsIn(sent.failure))
    for (const each of [error, ...[...own.values()].map(readError)])
      if (isOfAccount(each))
        yield* Effect.logWarning("the provider refused the operator's account; mail is deferred until that is mended", {
          transport: name,
          response: mask(textOf(each)),
        })
    return recipients.map((recipient) => {
      const ownError = own.get(recipient)
      return refusal(recipient, hop, ownError === undefined ? error : readError(ownError), ownError === undefined)
    })
  })
  return {
    kind: "nodemailer",
    deliver: Effect.fn("NodemailerTransport.deliver")((message: OutgoingMessage, recipients: ReadonlyArray<string>) =>
      Effect.map(slots.withPermit(handOver(message, recipients)), (outcomes) =>
        outcomes.map((outcome) => Secrets.masked(outcome, mask)),
      ),
    ),
  }
}

/** Failure of a transport that did not answer in time. */
const NO_ANSWER = Symbol("no answer")

const sendMail = (
  transporter: Transporter,
  envelope: { readonly from: string; readonly to: Array<string> },
  bytes: Uint8Array,
  limit_ms: number,
): Effect.Effect<unknown, unknown> =>
  Effect.tryPromise({
    try: () => transporter.sendMail({ envelope, raw: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) }),
    catch: ProviderModule.given,
  }).pipe(
    Effect.map(ProviderModule.given),
    Effect.timeoutOrElse({ duration: limit_ms, orElse: () => Effect.fail<unknown>(NO_ANSWER) }),
  )

const ACCEPTED = "accepted"

/** Reads what a transport gave, which may be anything. */
const attempt = <A>(read: () => A, otherwise: () => A): A => {
  try {
    return read()
  } catch {
    return otherwise()
  }
}

const readError = (error: unknown): ProviderError.ProviderError =>
  attempt(
    () => ProviderError.read(error),
    () => ({ _tag: "Rule", rule: ProviderRules.FALLBACK, text: "the transport failed", retry_after_ms: null }),
  )

/** Result of a transport. Only those that speak SMTP tell recipients apart. */
interface Answer {
  readonly rejected?: unknown
  readonly response?: unknown
  readonly messageId?: unknown
}

const outcomeOf = (
  recipient: string,
  answer: unknown,
  ownError: unknown,
  hop: Transport.Hop,
  isShared: boolean,
): RecipientOutcome => {
  const { messageId, rejected, response } = (answer ?? {}) as Answer
  if (ownError !== undefined) return refusal(recipient, hop, readError(ownError), false)
  if (Array.isArray(rejected) && rejected.some((each) => addressOf(each) === recipient)) {
    return refusal(
      recipient,
      hop,
      { _tag: "Rule", rule: REJECTED, text: String(response ?? ""), retry_after_ms: null },
      isShared,
    )
  }
  const text = String(response ?? messageId ?? ACCEPTED)
  const code = /^2\d\d\b/u.exec(text)?.[0]
  return code === undefined
    ? Transport.handedOver(recipient, hop, text)
    : Transport.accepted(recipient, hop, ProviderError.replyOf(Number(code), text, "end_of_data"))
}

/** A recipient that the transport lists as rejected, without an error of its own. */
const REJECTED: ProviderRules.Rule = { id: "rejected", action: "bounce", category: "policy" }

/** Returns the errors of single recipients, which nodemailer's SMTP transports list. */
const refusalsIn = (value: unknown): ReadonlyArray<readonly [recipient: string, error: unknown]> =>
  attempt(
    () => {
      const errors = ((value ?? {}) as { readonly rejectedErrors?: unknown }).rejectedErrors
      if (!Array.isArray(errors)) return []
      return errors.flatMap((error: unknown) =>
        attempt(
          (): ReadonlyArray<readonly [recipient: string, error: unknown]> => [
            [addressOf((error as { readonly recipient?: unknown }).recipient), error],
          ],
          () => [],
        ),
      )
    },
    () => [],
  )

const addressOf = (value: unknown): string =>
  attempt(
    () => (typeof value === "string" ? value : String((value as { readonly address?: unknown } | null)?.address ?? "")),
    () => "",
  )

/** Sentence for the customer in place of an error about the operator's account, whose names and keys the text may show. */
export const ACCOUNT_REFUSED = "the provider refuses the account of this service; its operator must mend that"

const isOfAccount = (error: ProviderError.ProviderError): boolean =>
  error._tag === "Reply" ? error.reply.stage === "auth" : error.rule.category === "auth"

const textOf = (error: ProviderError.ProviderError): string => (error._tag === "Reply" ? error.reply.text : error.text)

const refusal = (
  recipient: string,
  hop: Transport.Hop,
  error: ProviderError.ProviderError,
  isShared: boolean,
): RecipientOutcome => {
  const text = isOfAccount(error) ? ACCOUNT_REFUSED : textOf(error)
  if (error._tag === "Reply") {
    const outcome = Transport.answered(recipient, hop, { _tag: "Refused", reply: error.reply }, isShared)
    return { ...outcome, response: Transport.shortened(text) }
  }
  const { rule } = error
  switch (rule.action) {
    case "bounce":
      return Transport.bounced(recipient, hop, rule.category, text)
    case "fail":
      return Transport.failed(recipient, rule.category, text)
    default:
      return { ...Transport.deferred(recipient, hop, rule.category, text), retry_after_ms: error.retry_after_ms }
  }
}
