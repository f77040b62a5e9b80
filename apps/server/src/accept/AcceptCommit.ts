import { CurrentKey } from "@waybill/api/middleware/Authorization"
import type * as DomainName from "@waybill/domain/values/DomainName"
import * as Livemode from "@waybill/domain/account/Livemode"
import * as Account from "@waybill/domain/account/Account"
import * as UnsentMail from "@waybill/domain/email/UnsentMail"
import * as UsageChange from "@waybill/domain/email/UsageChange"
import * as Acceptance from "@waybill/domain/email/Acceptance"
import * as Email from "@waybill/domain/email/Email"
import * as Plan from "@waybill/domain/account/Plan"
import type * as SuppressionState from "@waybill/domain/suppression/SuppressionState"
import type * as Address from "@waybill/domain/values/Address"
import type * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import type { Append, View, Work } from "@waybill/store/commit/Commit"
import * as Content from "@waybill/store/content/Content"
import { rowsOf } from "@waybill/store/log/BatchTable"
import * as StoredContent from "@waybill/store/content/StoredContent"
import { Effect, Result } from "effect"
import { Instance } from "../settings/Instance.ts"
import * as Draft from "./Draft.ts"
import * as DryRun from "./DryRun.ts"

/** The account and key that send. A session of the dashboard has no key. */
export interface Sender {
  readonly account_id: Id.AccountId
  readonly key: {
    readonly id: Id.ApiKeyId
    readonly domain: DomainName.DomainName | null
    /** The test clock that the mail of the key lives on. */
    readonly test_clock?: Id.TestClockId | undefined
  } | null
  /** Whether this instance has an address for tracked links. */
  readonly tracks: boolean
}

/** The sender of the request in progress. */
export const currentSender = Effect.gen(function* (): Effect.fn.Return<Sender, never, CurrentKey | Instance> {
  const { account_id, domain, key_id, test_clock } = yield* CurrentKey
  const { tracks } = yield* Instance
  return { account_id, key: key_id === null ? null : { id: key_id, domain, test_clock }, tracks }
})

/** One message to accept. */
export interface Message<E> {
  readonly id: Id.EmailId
  /** The draft, or the reason why the message is malformed. */
  readonly draft: Result.Result<Draft.Draft<E>, E>
}

/** A request to accept messages, whichever way it came in. */
export interface AcceptRequest<A, E, F> {
  readonly sender: Sender
  /** The moment of the request, which the ids of its messages begin with. */
  readonly at: Timestamp.Timestamp
  readonly messages: ReadonlyArray<Message<E>>
  /** The dry run that the messages are part of. Nothing is written then. */
  readonly dryRun?: Readonly<DryRun.DryRun> | undefined
  /**
   * Makes the answer from the verdict on each message, in order, and from the volume so far. Its failure refuses the whole
   * request.
   */
  readonly answer: (verdicts: ReadonlyArray<Verdict<E>>, sums: DryRun.Sums) => Result.Result<A, F>
}

export interface Accepted {
  readonly id: Id.EmailId
  readonly created_at: Timestamp.Timestamp
  /** The recipients that it will not reach. */
  readonly suppressed: ReadonlyArray<Address.Address>
}

export type Verdict<E> = Result.Result<Accepted, E | Acceptance.Refusal>

/** Returns the commit that accepts the messages of a request: their events, content and volume in one transaction. */
export const accept = <A, E, F>({ answer, at, messages, dryRun, sender }: AcceptRequest<A, E, F>): Work<A, F> => {
  const drafts = messages.flatMap(({ draft }) => (Result.isSuccess(draft) ? [draft.success] : []))
  return {
    streams: [
      ...messages.map(({ id }) => ({ aggregate: Email, id, isNew: true })),
      ...drafts.flatMap(({ source }) => source ?? []),
    ],
    needs: Draft.needsOf(drafts, at, sender.key?.test_clock),
    bytes: Draft.bytesOf(drafts),
    decide: (view) => {
      const append: Array<Append> = []
      const content: Array<StoredContent.ContentRow> = []
      const verdicts: Array<Verdict<E>> = []
      let sums = dryRun?.sums ?? DryRun.NOTHING
      for (const { draft, id } of messages) {
        const decided = Result.flatMap(draft, (each) => decideOn(view, sender, id, each, at, sums))
        if (Result.isSuccess(decided)) {
          append.push(...decided.success.append)
          content.push(...decided.success.content)
          sums = DryRun.add(sums, decided.success)
        }
        verdicts.push(Result.map(decided, ({ created_at, suppressed }) => ({ id, created_at, suppressed })))
      }
      return Result.map(answer(verdicts, sums), (answer) => ({
        append,
        rows: [rowsOf(StoredContent.table, content)],
        answer,
        isDryRun: dryRun !== undefined,
      }))
    },
  }
}

/** The API's answer for an accepted message. */
const queued = ({ created_at, id }: Accepted) => ({ id, status: "queued" as const, created_at })

/** Answers a request for one message: acknowledges it, or refuses it. */
export const acknowledge = <E>([verdict]: ReadonlyArray<Verdict<E>>) => {
  if (verdict === undefined) throw new Error("a request without a message")
  return Result.map(verdict, queued)
}

const clockOf = (
  { facts }: View,
  account_id: Id.AccountId,
  id: Id.TestClockId | undefined,
): Acceptance.Context["clock"] => {
  if (id === undefined) return undefined
  const clock = facts.clock(account_id, id)
  return { id, now: clock?.removed === false ? clock.now : undefined }
}

/** Decides about one message, and about its source with it. */
const decideOn = <E>(
  view: View,
  sender: Sender,
  id: Id.EmailId,
  draft: Draft.Draft<E>,
  at: Timestamp.Timestamp,
  before: DryRun.Sums,
) => {
  const { source } = draft
  if (source === undefined) return decide(view, sender, id, draft, at, before)
  return Result.flatMap(source.rebuild?.(view) ?? Result.succeed(draft), (current) =>
    Result.flatMap(decide(view, sender, id, current, at, before), (decided) =>
      Result.map(source.record(view, id, decided.created_at), (events) => ({
        ...decided,
        append: [...decided.append, { aggregate: source.aggregate, id: source.id, events }],
      })),
    ),
  )
}

/**
 * Decides about one message, after those of the request that `before` sums up. `at` is the moment of its id, not of the commit: a batch that commits after midnight of the
 * first must not count in a month whose volume it has not loaded.
 */
const decide = (
  view: View,
  sender: Sender,
  id: Id.EmailId,
  { blobs, command, original }: Pick<Draft.Draft, "blobs" | "command" | "original">,
  at: Timestamp.Timestamp,
  before: DryRun.Sums,
) => {
  const { account_id, key, tracks } = sender
  const account = view.facts.account(account_id)
  if (account === undefined) throw new Error(`the account ${account_id} has a key and no record`)
  const name = Acceptance.domainOf(command)
  const domain = view.facts.domain(account_id, name)
  const senderName = Acceptance.senderDomain(command.headers)
  const suppressed = new Map<string, SuppressionState.Reason>()
  for (const address of Draft.recipientKeys(command)) {
    const reason = view.facts.suppression(account_id, address)
    if (reason !== undefined) suppressed.set(address, reason)
  }
  const context: Acceptance.Context = {
    now: at,
    emailId: id,
    mode: Livemode.isLive(account_id) ? "live" : "test",
    messageId: Acceptance.messageIdOf(id, name),
    domain:
      domain === undefined
        ? undefined
        : {
            id: domain.id,
            status: domain.status,
            tracking: domain.tracking ?? undefined,
          },
    sender:
      senderName === undefined
        ? undefined
        : {
            domain: senderName,
            status: view.facts.domain(account_id, senderName)?.status,
          },
    tracks,
    key,
    clock: clockOf(view, account_id, command.test_clock ?? key?.test_clock),
    plan: { name: Plan.TERMS[account.plan].name, max_recipients: account.limits.max_recipients },
    allowedHeaders: account.allowed_headers,
    suppressed,
    unsent: {
      bytes: view.facts.unsent(account_id, Draft.monthOf(at)).bytes + before.scheduled_bytes,
      limit: Livemode.isLive(account_id) ? Account.scheduledBytesOf(account) : UnsentMail.TEST_SCHEDULED_BYTES,
    },
    quota: {
      used: view.facts.acceptedIn(account_id, Draft.monthOf(at)) + before.recipients,
      limit: Livemode.isLive(account_id) ? account.limits.monthly_emails : UsageChange.TEST_MONTHLY_EMAILS,
    },
    original,
  }
  return Result.map(Acceptance.accept(context, command), (events) => {
    const [queued, ...unreached] = events
    const recipients = [...queued.to, ...queued.cc, ...queued.bcc].map(({ address }) => address)
    const days = Livemode.isLive(account_id) ? account.content_days : Content.TEST_CONTENT_DAYS
    const expires_on = Timestamp.dayAfter(at, days)
    return {
      append: [{ aggregate: Email, id, events }] as ReadonlyArray<Append>,
      created_at: queued.created_at,
      suppressed: unreached.flatMap((event) => (event._tag === "EmailSuppressed" ? [event.recipient] : [])),
      content: blobs.map((blob): StoredContent.ContentRow => ({ account_id, ...blob, expires_on })),
      recipients: UsageChange.volumeOf(recipients.length - unreached.length),
      scheduled_bytes: queued.scheduled_at === null ? 0 : queued.size_bytes,
    }
  })
}
