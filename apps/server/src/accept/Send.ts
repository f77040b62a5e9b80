import type * as Id from "@waybill/domain/values/Id"
import * as EmailRefusal from "@waybill/domain/email/EmailRefusal"
import * as MailboxProvider from "@waybill/domain/search/MailboxProvider"
import { nearestName } from "@waybill/domain/values/nearestName"
import type { Refusal } from "@waybill/domain/values/Refusal"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import type { IdempotencyRef } from "@waybill/store/idempotency/IdempotencyRef"
import * as Domains from "@waybill/store/readmodels/Domains"
import type { Work } from "@waybill/store/commit/Commit"
import { Clock, Data, Effect, Equal, Result } from "effect"
import * as NewIds from "../process/NewIds.ts"
import * as Templating from "../templates/Templating.ts"
import * as AcceptCommit from "./AcceptCommit.ts"
import * as Draft from "./Draft.ts"
import * as DryRun from "./DryRun.ts"
import * as RequestCommit from "./RequestCommit.ts"

/** Most domains of an account that a mistyped one is compared with. */
const MAX_COMPARED_DOMAINS = 100
/** Unknown domains of a request that are compared with them: each may take 4 ms, for which other commits wait. */
const MAX_COMPARED_OF_REQUEST = 5

/** The account and key that send, where they commit to, and the idempotency key of their request. */
export interface Caller {
  readonly sender: AcceptCommit.Sender
  readonly target: RequestCommit.Target
}

/** The caller of the API request in progress. */
export const callerOf = (call: RequestCommit.Call) =>
  Effect.zipWith(AcceptCommit.currentSender, RequestCommit.targetOf(call), (sender, target) => ({ sender, target }))

type Drafted<E> = Result.Result<Draft.Draft<E>, E>
/** A draft whose template may have been refused. */
type Filled<E> = Drafted<E | Templating.Refusal>
type Verdicts<E> = ReadonlyArray<AcceptCommit.Verdict<E>>
/** Answers a request for its messages, or refuses it as a whole. */
type Answering<E, A, F> = (verdicts: Verdicts<E>) => Result.Result<A, F>

/** Outcome of a request to send. */
interface Sent<A> {
  readonly answer: A
  /** The messages as they were decided about. Undefined for an answer that repeats one. */
  readonly drafts?: ReadonlyArray<Drafted<unknown>>
  readonly verdicts?: RequestCommit.Verdicts
  readonly sums?: DryRun.Sums
}

const SENT = {
  encode: (ref: IdempotencyRef, { answer }: Sent<unknown>) => RequestCommit.PLAIN.encode(ref, answer),
  decode: (ref: IdempotencyRef, stored: Uint8Array) => ({ answer: RequestCommit.PLAIN.decode(ref, stored) }),
}

/** The template is another one than the message was made of. */
class TemplateChanged extends Data.TaggedError("TemplateChanged") {}

/**
 * Accepts the messages of a request in one commit. Every message that is sent passes here, in whichever way it came. What a
 * caller must read to make its messages is an effect, which a repeated request with an idempotency key skips.
 */
export const send = Effect.fnUntraced(function* <A, F, E extends Refusal = never, E2 = never, R = never>(
  { sender, target }: Caller,
  wanted: ReadonlyArray<Draft.Outgoing<E>> | Effect.Effect<ReadonlyArray<Draft.Outgoing<E>>, E2, R>,
  answering: Answering<E | Templating.Refusal, A, F>,
) {
  const { account_id } = sender
  const millis = yield* Clock.currentTimeMillis
  const dryRun = yield* DryRun.Current
  const guess = Effect.isEffect(wanted) ? undefined : yield* guessOf(account_id, wanted)
  const ready = Effect.isEffect(wanted) ? undefined : readyOf(wanted, guess)
  const workOn = (drafts: ReadonlyArray<Filled<E>>, domains: ReadonlyArray<string> | undefined) =>
    AcceptCommit.accept<Sent<A>, E | Templating.Refusal, F | EmailRefusal.DomainNotVerified>({
      sender,
      dryRun,
      at: Timestamp.fromMillis(millis),
      messages: drafts.map((draft) => ({ id: NewIds.newIdAt("EmailId", millis), draft })),
      answer: (decided, sums) =>
        Result.flatMap(withNearest(decided, domains), (verdicts) =>
          Result.map(answering(verdicts), (answer) => ({ answer, drafts, verdicts, sums })),
        ),
    })
  const attempt = (domains?: ReadonlyArray<string>) => {
    const made = Effect.suspend(() => {
      const drafts = Effect.flatMap(asEffect(wanted), (outgoing) => fill(account_id, outgoing, guess))
      const work = Effect.map(drafts, (each) => workOn(each, domains))
      return RequestCommit.commitTo(target, work, false, SENT)
    })
    if (ready === undefined) return made
    const work = Effect.succeed(ifCurrent(workOn(ready, domains), account_id, guess))
    const committing = RequestCommit.commitTo(target, work, true, SENT)
    return Effect.catchIf(
      committing,
      (error) => error instanceof TemplateChanged,
      () => made,
    )
  }
  // The account's domains are read once a message has one that is none of them.
  const { answer: sent, isReplayed } = yield* Effect.catchIf(attempt(), EmailRefusal.isOfUnknownDomain, () =>
    Effect.flatMap(domainsOf(account_id), attempt),
  )
  if (dryRun !== undefined && sent.sums !== undefined) dryRun.sums = sent.sums
  if (sent.verdicts !== undefined) (yield* RequestCommit.TranslatedRequest)?.onVerdicts?.(sent.verdicts)
  const drafts = sent.drafts ?? (guess === undefined ? ready : undefined) ?? []
  return { answer: sent.answer, isReplayed, commands: drafts.map((each) => Result.getOrUndefined(each)?.command) }
})

const isDrafted = <E>(outgoing: Draft.Outgoing<E>): outgoing is Drafted<E> => Result.isResult(outgoing)

const asEffect = <A, E, R>(value: A | Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.isEffect(value) ? value : Effect.succeed(value)

/** Makes the only message of a request of the version that its template sent last, without looking that up. */
const guessOf = <E>(account_id: Id.AccountId, [first, ...others]: ReadonlyArray<Draft.Outgoing<E>>) =>
  first === undefined || others.length > 0 || isDrafted(first)
    ? NOT_GUESSED
    : Templating.guess(account_id, first.message)

const NOT_GUESSED = Effect.succeed(undefined)

/** Returns the drafts of messages that need nothing else, or of one that was guessed; undefined if templates are to be read. */
const readyOf = <E>(outgoing: ReadonlyArray<Draft.Outgoing<E>>, guess: Templating.Guess | undefined) => {
  if (outgoing.every(isDrafted)) return outgoing
  if (guess === undefined || Result.isFailure(guess.filled)) return undefined
  const { success } = guess.filled
  return outgoing.map((each) => (isDrafted(each) ? each : Result.succeed(Draft.fromTemplate(each, success))))
}

/** Makes the messages of templates one after another, each in turns of its own. A guess that was right is used. */
const fill = Effect.fnUntraced(function* <E>(
  account_id: Id.AccountId,
  outgoing: ReadonlyArray<Draft.Outgoing<E>>,
  guess: Templating.Guess | undefined,
) {
  const choices = outgoing.flatMap((each) => (isDrafted(each) ? [] : [each.message.template]))
  if (choices.length === 0) return outgoing.filter(isDrafted)
  const found = yield* Templating.lookUp(account_id, choices)
  return yield* Effect.forEach(outgoing, (each) =>
    isDrafted(each)
      ? Effect.succeed<Filled<E>>(each)
      : Templating.fill(account_id, found, each.message, guess).pipe(
          Effect.map((filled): Filled<E> => Result.succeed(Draft.fromTemplate(each, filled))),
          Effect.catchIf(Templating.isRefusal, (refusal) => Effect.succeed<Filled<E>>(Result.fail(refusal))),
        ),
  )
})

/** Refuses work on a message that was guessed if its template has another version now. */
const ifCurrent = <A, E>(
  work: Work<A, E>,
  account_id: Id.AccountId,
  guess: Templating.Guess | undefined,
): Work<A, E | TemplateChanged> =>
  guess === undefined
    ? work
    : {
        ...work,
        needs: { ...work.needs, templates: [guess.name] },
        decide: (view) =>
          Equal.equals(view.facts.template(account_id, guess.name), guess.current)
            ? work.decide(view)
            : Result.fail(new TemplateChanged()),
      }

/** Returns the name of the provider of public mailboxes that a domain is of. */
const providerOf = (domain: string): string | undefined => {
  const provider = MailboxProvider.of(`@${domain}`)
  return provider === MailboxProvider.OTHER ? undefined : MailboxProvider.NAMES[provider]
}

/** Returns the domains of the account, one of which was probably meant; none if they cannot be read. */
const domainsOf = (account_id: Id.AccountId) =>
  Effect.orElseSucceed(Domains.names(account_id, MAX_COMPARED_DOMAINS), (): ReadonlyArray<string> => [])

/**
 * Adds the domains that were probably meant. Without the account's domains it fails at the first message that needs them, so
 * that nothing is committed, nor an answer stored, before they are read.
 */
const withNearest = <E>(
  verdicts: Verdicts<E>,
  domains: ReadonlyArray<string> | undefined,
): Result.Result<Verdicts<E>, EmailRefusal.DomainNotVerified> => {
  const nearest = new Map<string, string | undefined>()
  return Result.all(
    verdicts.map((verdict) => {
      if (Result.isSuccess(verdict) || !EmailRefusal.isOfUnknownDomain(verdict.failure)) return Result.succeed(verdict)
      if (domains === undefined) return Result.fail(verdict.failure)
      const { domain } = verdict.failure
      if (!nearest.has(domain) && nearest.size < MAX_COMPARED_OF_REQUEST)
        nearest.set(domain, nearestName(domain, domains))
      return Result.succeed(
        Result.fail(EmailRefusal.withNearest(verdict.failure, nearest.get(domain), providerOf(domain))),
      )
    }),
  )
}
