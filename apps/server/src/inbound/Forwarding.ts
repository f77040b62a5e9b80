import * as Livemode from "@waybill/domain/account/Livemode"
import * as DomainStatus from "@waybill/domain/domain/DomainStatus"
import * as Tracking from "@waybill/domain/domain/Tracking"
import * as Forward from "@waybill/domain/inbound/Forward"
import * as InboundRefusal from "@waybill/domain/inbound/InboundRefusal"
import type { Forwarded, Received } from "@waybill/domain/inbound/InboundState"
import * as Reply from "@waybill/domain/inbound/Reply"
import type * as Address from "@waybill/domain/values/Address"
import type * as DomainName from "@waybill/domain/values/DomainName"
import type * as Id from "@waybill/domain/values/Id"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import * as RateWindows from "@waybill/store/admission/RateWindows"
import * as Domains from "@waybill/store/readmodels/Domains"
import * as Databases from "@waybill/store/routing/Databases"
import { Effect, Result } from "effect"
import * as AcceptCommit from "../accept/AcceptCommit.ts"
import type * as Draft from "../accept/Draft.ts"
import * as NewIds from "../process/NewIds.ts"
import * as ForwardLoops from "./ForwardLoops.ts"
import * as ForwardVolume from "./ForwardVolume.ts"

/** Mails that routes of an account forward within a minute: as many as a key may send. */
export const MAX_PER_MINUTE = 1_000

/** The parts of a received mail that a forward is made of. */
export type Mail = Omit<Received, "_tag" | "at" | "auth" | "email_id" | "mailbox_hash" | "reply_to" | "thread_id">

/** Returns the draft of a mail that is sent on. Its content is that of the received mail, and is not stored again. */
export const draftOf = (
  mail: Mail,
  targets: ReadonlyArray<Address.Address>,
  domain: DomainName.DomainName,
): Draft.Draft => {
  const { envelope, inbound_id, message_id, sha256, size_bytes, subject } = mail
  const [author] = Reply.recipientsOf({ ...mail, reply_to: [] })
  const [receiver] = envelope.to
  const from = author ?? (receiver === undefined ? undefined : { address: receiver })
  if (from === undefined) throw new Error(`the mail ${inbound_id} has no recipient`)
  return {
    blobs: [],
    command: {
      from,
      to: targets.map((address) => ({ address })),
      cc: [],
      bcc: [],
      reply_to: [],
      subject: subject ?? "",
      headers: {},
      tags: [],
      scheduled_at: null,
      content: { sha256, has_html: false, has_text: true, attachments: [] },
      size_bytes,
      list_unsubscribe: false,
      tracking: Tracking.NONE,
      resend_of: null,
      forward: { inbound_id, message_id, domain },
    },
  }
}

/**
 * Returns the domain that answers for a forward: the receiving one or one above it, or the oldest that may send, for mail
 * to the account's own address. A receiving domain that may not send is returned too: the acceptance refuses it.
 */
export const senderOf = Effect.fn("Forwarding.senderOf")(function* (
  account_id: Id.AccountId,
  receiving: DomainName.DomainName,
) {
  if (!Livemode.isLive(account_id)) return receiving
  const domains = yield* Databases.ofAccount(account_id, Domains.list(account_id))
  const sending = domains
    .filter(({ status }) => DomainStatus.sends(status))
    .toSorted((a, b) => (a.domain_id < b.domain_id ? -1 : 1))
  const above = sending.filter(({ name }) => receiving === name || receiving.endsWith(`.${name}`))
  const [nearest = sending[0]] = above.toSorted((a, b) => b.name.length - a.name.length)
  return nearest?.name ?? receiving
})

/** A forward that a route, or the email that the mail answers, asks for. */
export interface Wanted {
  readonly to: ReadonlyArray<Address.Address>
}

type Refusal = "automatic" | "content_expired" | "forward_volume" | "loop" | "made_up"

/**
 * Whether a key has made up a mail that is not test mail. It came from no server, and names any author: sent on, it would
 * be forged.
 */
export const isMadeUp = (account_id: Id.AccountId, { envelope }: Pick<Mail, "envelope">): boolean =>
  envelope.remote_ip === null && Livemode.isLive(account_id)

interface Options {
  /** Absent for mail that comes in, of which strangers decide how much there is. */
  readonly sender?: AcceptCommit.Sender
  /** Why none of the forwards can be sent. */
  readonly refusal?: Refusal | undefined
}

/**
 * Prepares the forwards of a mail that nobody waits for. The decision says of each what became of it; a refusal is a
 * result like others, because the mail has been received anyway.
 */
export const prepare = Effect.fn("Forwarding.prepare")(function* (
  account_id: Id.AccountId,
  mail: Mail,
  wanted: ReadonlyArray<Wanted>,
  { refusal: given, sender }: Options = {},
) {
  const { at } = yield* NewIds.newEmail
  const refusal = isMadeUp(account_id, mail) ? "made_up" : given
  const asked =
    refusal === undefined && wanted.length > 0
      ? yield* planOf(account_id, mail, wanted, at)
      : wanted.map(() => refused(refusal))
  const addresses = asked.reduce((sum, each) => sum + each.addresses, 0)
  const isWithin = sender !== undefined || addresses === 0 || (yield* ForwardVolume.take(account_id, addresses))
  const planned = isWithin ? asked : asked.map((each) => (each.addresses === 0 ? each : refused("forward_volume")))
  const drafts = planned.flatMap(({ message }) => (message === undefined ? [] : [message]))
  return AcceptCommit.accept({
    sender: sender ?? { account_id, key: null, tracks: false },
    at,
    messages: drafts,
    answer: (verdicts): Result.Result<ReadonlyArray<Forwarded>> => {
      const left = [...verdicts]
      return Result.succeed(
        planned.map(({ message, refusal }) => {
          const verdict = message === undefined ? undefined : left.shift()
          const kept = refusal === undefined ? {} : { refusal }
          if (verdict === undefined) return kept
          return Result.match(verdict, {
            onSuccess: ({ id }): Forwarded => ({ email_id: id, ...kept }),
            onFailure: ({ reason }) => ({ refusal: reason }),
          })
        }),
      )
    },
  })
})

interface Planned {
  readonly message: AcceptCommit.Message<never> | undefined
  readonly refusal: Refusal | undefined
  /** Addresses that the message goes to. */
  readonly addresses: number
}

const refused = (refusal: Refusal | undefined): Planned => ({ message: undefined, refusal, addresses: 0 })

/** The minute is taken before anything is looked up, and what several forwards ask is looked up once. */
const planOf = Effect.fnUntraced(function* (
  account_id: Id.AccountId,
  mail: Mail,
  wanted: ReadonlyArray<Wanted>,
  at: Timestamp.Timestamp,
) {
  yield* takeOfMinute(account_id, wanted.length)
  const origins = new Set(mail.envelope.to.map((address) => address.toLowerCase()))
  const isOrigin = ({ address }: { readonly address: string }) => origins.has(address.toLowerCase())
  const known = ForwardLoops.nothingKnown()
  const loops = new Map<string, boolean>()
  for (const target of wanted.flatMap(({ to }) => to)) {
    const key = target.toLowerCase()
    if (loops.has(key) || Forward.answersItself(mail, target)) continue
    loops.set(key, yield* ForwardLoops.leadsBack(target, isOrigin, known))
  }
  const domain = yield* senderOf(account_id, mail.domain)
  return wanted.map(({ to }): Planned => {
    const targets: Array<Address.Address> = []
    let refusal: Refusal | undefined
    for (const target of to) {
      if (Forward.answersItself(mail, target)) refusal = "automatic"
      else if (loops.get(target.toLowerCase()) === true) refusal = "loop"
      else targets.push(target)
    }
    if (targets.length === 0) return refused(refusal)
    const { id } = NewIds.newEmailAt(Date.parse(at))
    return {
      message: { id, draft: Result.succeed(draftOf(mail, targets, domain)) },
      refusal,
      addresses: targets.length,
    }
  })
})

const takeOfMinute = Effect.fnUntraced(function* (account_id: Id.AccountId, amount: number) {
  const taking = RateWindows.takeOfMinute(`${account_id}/forward`, amount, MAX_PER_MINUTE)
  if (!(yield* Databases.ofAccount(account_id, taking)))
    return yield* new InboundRefusal.TooManyForwards({ limit: MAX_PER_MINUTE })
})
