import * as Address from "@waybill/domain/values/Address"
import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import { Effect, Layer, Result, Semaphore } from "effect"
import type { Transporter } from "nodemailer"
import * as ProviderModule from "../provider/ProviderModule.ts"
import * as Secrets from "../provider/Secrets.ts"
import * as Cooldown from "../site/Cooldown.ts"
import * as Answer from "./NodemailerAnswer.ts"
import type { OutgoingMessage } from "./Transport.ts"
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
}

/** Hands mail over to a transport of nodemailer. */
export const layer = ({ module, options }: Options) =>
  Layer.effect(
    Transport.Transport,
    Effect.gen(function* () {
      const transporter = yield* Effect.acquireRelease(ProviderModule.load(module, options), (each) =>
        Effect.sync(() => each.close()),
      )
      return make(module, transporter, Secrets.maskOf(options))
    }),
  )

export const make = (
  name: string,
  transporter: Transporter,
  mask = Secrets.NOTHING,
): Transport.Transport["Service"] => {
  const slots = Semaphore.makeUnsafe(CONCURRENT_MESSAGES)
  let cooldown = Cooldown.start(CONCURRENT_MESSAGES, FIRST_PAUSE_MS)
  const handOver = Effect.fnUntraced(function* (message: OutgoingMessage, recipients: ReadonlyArray<string>) {
    const startedAt = yield* MonotonicClock.millis
    const pause = Cooldown.remaining(cooldown, startedAt)
    if (pause > 0) {
      const response = `${name} requested a pause; ${Math.ceil(pause / 1_000)} s remain`
      return recipients.map((recipient) => Transport.notAttempted(recipient, null, pause, response))
    }
    if (message.mayBegin?.() === false) return recipients.map(Transport.notStarted)
    const envelope = { from: message.mailFrom(recipients), to: recipients.map(Address.quote) }
    const sent = yield* Effect.result(sendMail(transporter, envelope, message.bytes))
    const now = yield* MonotonicClock.millis
    const hop = { mx: null, tls: null, duration_ms: now - startedAt }
    if (Result.isSuccess(sent)) {
      cooldown = Cooldown.accepted(cooldown, CONCURRENT_MESSAGES)
      const own = new Map(Answer.refusalsIn(sent.success))
      return recipients.map((recipient) =>
        // It has taken the message, whatever its answer is: an error here would send the message again.
        Answer.attempt(
          () =>
            Answer.outcomeOf(recipient, sent.success, own.get(Address.quote(recipient)), hop, recipients.length > 1),
          () => Transport.handedOver(recipient, hop, Answer.ACCEPTED),
        ),
      )
    }
    if (sent.failure === NO_ANSWER) {
      const response = `no answer of ${name} within ${HAND_OVER_LIMIT_MS / 1_000} s`
      return recipients.map((recipient) => Transport.deferred(recipient, hop, "lost_answer", response))
    }
    const error = Answer.readError(sent.failure)
    if (error._tag === "Rule" && error.rule.action === "throttle") {
      cooldown = Cooldown.throttled(cooldown, now, Math.max(error.rule.pause_ms ?? 0, error.retry_after_ms ?? 0))
      const wait = Cooldown.remaining(cooldown, now)
      return recipients.map((recipient) => Transport.notAttempted(recipient, null, wait, error.text))
    }
    const own = new Map(Answer.refusalsIn(sent.failure))
    for (const each of [error, ...[...own.values()].map(Answer.readError)])
      if (Answer.isOfAccount(each))
        yield* Effect.logWarning("the provider refused the operator's account; mail is deferred until that is mended", {
          transport: name,
          response: mask(Answer.textOf(each)),
        })
    return recipients.map((recipient) => {
      const ownError = own.get(Address.quote(recipient))
      return Answer.refusal(
        recipient,
        hop,
        ownError === undefined ? error : Answer.readError(ownError),
        ownError === undefined,
      )
    })
  })
  const isPassable = (recipient: string) => !(name === "sendmail" && recipient.startsWith("-"))
  return {
    kind: "nodemailer",
    deliver: Effect.fn("NodemailerTransport.deliver")((message: OutgoingMessage, recipients: ReadonlyArray<string>) =>
      Effect.gen(function* () {
        const passable = recipients.filter(isPassable)
        const outcomes = passable.length === 0 ? [] : yield* slots.withPermit(handOver(message, passable))
        const byRecipient = new Map(outcomes.map((outcome) => [outcome.recipient, Secrets.masked(outcome, mask)]))
        return recipients.map((each) => byRecipient.get(each) ?? Transport.failed(each, "protocol", UNPASSABLE))
      }),
    ),
  }
}

/** The program would read such an address as an option, so nodemailer refuses the whole message. */
const UNPASSABLE = "a sendmail program cannot be given an address that begins with a hyphen"

/** Failure of a transport that did not answer in time. */
const NO_ANSWER = Symbol("no answer")

const sendMail = (
  transporter: Transporter,
  envelope: { readonly from: string; readonly to: Array<string> },
  bytes: Uint8Array,
): Effect.Effect<unknown, unknown> =>
  Effect.tryPromise({
    try: () => transporter.sendMail({ envelope, raw: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) }),
    catch: ProviderModule.given,
  }).pipe(
    Effect.map(ProviderModule.given),
    Effect.timeoutOrElse({ duration: HAND_OVER_LIMIT_MS, orElse: () => Effect.fail<unknown>(NO_ANSWER) }),
  )
