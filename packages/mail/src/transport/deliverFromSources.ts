import { Effect } from "effect"
import type { OutgoingMessage, RecipientOutcome } from "./Transport.ts"
import * as Transport from "./Transport.ts"
import * as BlockRules from "../source/BlockRules.ts"
import * as SourceAddress from "../source/SourceAddress.ts"

/** The receiving side of a delivery. */
export interface Destination {
  /** Key of the provider whose mails a plan counts; undefined for servers that belong to none. */
  readonly provider: string | undefined
  /** Servers that a block holds for. A block of one small server must not stop the mail to others. */
  readonly site: string
  readonly families: Effect.Effect<ReadonlySet<SourceAddress.Family>>
  readonly isResting: (address: string) => boolean
}

type Send = (
  recipients: ReadonlyArray<string>,
  source: SourceAddress.Source | undefined,
  message: OutgoingMessage,
) => Effect.Effect<ReadonlyArray<RecipientOutcome>>

/** Sends to recipients of one site from the addresses of the sender's pool, in as many parts as their plans need. */
export const deliverFromSources = Effect.fnUntraced(function* (
  sources: SourceAddress.Sources,
  { families: targets, isResting, provider, site }: Destination,
  message: OutgoingMessage,
  recipients: ReadonlyArray<string>,
  send: Send,
): Effect.fn.Return<ReadonlyArray<RecipientOutcome>> {
  if (!sources.isConfigured()) return yield* send(recipients, undefined, message)
  const { owner, report } = message
  const unblocked = { ...message, report: (outcome: RecipientOutcome) => report(withoutBlock(outcome)) }
  const outcomes = new Map<string, RecipientOutcome>()
  const without = new Set<string>()
  const families = new Set(yield* targets)
  let remaining = recipients
  while (remaining.length > 0) {
    const choice = yield* sources.choose({
      owner,
      provider: provider ?? SourceAddress.OTHER,
      site,
      families,
      key: message.emailId,
      recipients: remaining.length,
      without,
      isResting,
    })
    if (choice._tag === "None") {
      for (const recipient of remaining)
        if (!isFinal(outcomes.get(recipient))) outcomes.set(recipient, waiting(recipient, choice))
      break
    }
    if (choice._tag === "Kernel") {
      for (const outcome of yield* send(remaining, undefined, message)) outcomes.set(outcome.recipient, outcome)
      break
    }
    const { giveBack, source } = choice
    const part = remaining.slice(0, choice.recipients)
    const results = (yield* send(part, source, unblocked)).map((outcome) => ({
      outcome: withoutBlock(outcome),
      block: BlockRules.find(outcome),
    }))
    giveBack(results.filter(({ outcome }) => !isCounted(outcome)).length)
    const block = results.find(({ block }) => block !== undefined)
    if (block?.block !== undefined) {
      const { pause_ms } = block.block
      yield* sources.blocked({ address: source.address, site, reply: block.outcome.response ?? "", pause_ms })
    }
    for (const { outcome } of results) outcomes.set(outcome.recipient, outcome)
    const isAbsent = results.some(({ outcome }) => outcome.category === "source_absent")
    if (isAbsent) {
      without.add(source.address)
      yield* sources.absent(source.address)
    }
    // Servers that cannot be reached from one family of addresses may be reachable from the other.
    const hasOtherFamily = families.size > 1 && results.some(({ outcome }) => isUnreached(outcome))
    if (hasOtherFamily) families.delete(SourceAddress.familyOf(source.address))
    const repeated = results.filter(
      ({ outcome }) => outcome.category === "source_absent" || (hasOtherFamily && isUnreached(outcome)),
    )
    remaining = [...repeated.map(({ outcome }) => outcome.recipient), ...remaining.slice(part.length)]
  }
  return recipients.map((recipient) => outcomes.get(recipient) ?? Transport.notStarted(recipient))
})

/** Whether an outcome says more than that no address can be used. */
const isFinal = (outcome: RecipientOutcome | undefined): boolean =>
  outcome !== undefined && outcome.category !== "source_absent"

const waiting = (
  recipient: string,
  { isBrief, reason, retry_after_ms }: Extract<SourceAddress.Choice, { readonly _tag: "None" }>,
): RecipientOutcome => {
  const outcome = Transport.notAttempted(recipient, null, retry_after_ms, reason)
  return isBrief ? outcome : { ...outcome, category: "source_address" }
}

/** A block concerns the address: another one may deliver the message, so that it is not final. */
const withoutBlock = (outcome: RecipientOutcome): RecipientOutcome =>
  outcome.status === "bounced" && BlockRules.find(outcome) !== undefined
    ? { ...outcome, status: "deferred", category: "blocked", suppress: "never" }
    : outcome

/** Whether the provider may have taken the message, or refused it for good. A deferral is counted when it succeeds. */
const isCounted = ({ category, no_attempt, status }: RecipientOutcome): boolean =>
  !no_attempt && (status !== "deferred" || category === "lost_answer")

const isUnreached = ({ category, code, no_attempt, status }: RecipientOutcome): boolean =>
  status === "deferred" && !no_attempt && code === null && category === "connection"
