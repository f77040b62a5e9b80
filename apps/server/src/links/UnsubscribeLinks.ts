import { LruCache } from "@waybill/runtime/collections/LruCache"
import * as Email from "@waybill/domain/email/Email"
import type * as EmailState from "@waybill/domain/email/EmailState"
import type { AccountId, EmailId } from "@waybill/domain/values/Id"
import * as Suppression from "@waybill/domain/suppression/Suppression"
import type { OwnedMail } from "@waybill/mail/tokens/MailToken"
import * as Unsubscribe from "@waybill/mail/tokens/Unsubscribe"
import { EventStore } from "@waybill/store/commit/EventStore"
import { InstanceKey } from "@waybill/store/secrets/InstanceKey"
import * as Mask from "@waybill/store/erasure/Mask"
import { Provenance, system } from "@waybill/store/log/Provenance"
import { Effect } from "effect"
import * as NewIds from "../process/NewIds.ts"

/**
 * Derives the keys of unsubscribe links. The first one signs, all of them verify, so that links from before a key
 * rotation keep working.
 */
export const unsubscribeKeys = Effect.map(InstanceKey, (keyring) => keyring.derive("unsubscribe"))

/**
 * Returns the List-Unsubscribe address of a message, or `undefined` if it cannot have one: RFC 8058 requires https, and
 * with several recipients one address would let each of them unsubscribe the others.
 */
export const unsubscribeUrl =
  (base: string, secretKey: Uint8Array) =>
  (account_id: AccountId, { accepted: { email_id }, recipients }: EmailState.AcceptedEmail): string | undefined =>
    base.startsWith("https://") && recipients.length === 1
      ? `${base.replace(/\/+$/u, "")}${Unsubscribe.PATH}${Unsubscribe.token(secretKey, { account_id, email_id })}`
      : undefined

/**
 * Suppresses the recipient of an email; returns false for an uncounted email. Repeating it changes nothing. Nothing is
 * recorded about a recipient whose address was erased.
 */
export const unsubscribe = Effect.fn("unsubscribe")(function* ({ account_id, email_id }: OwnedMail, address: string) {
  const store = yield* EventStore
  const state = yield* store.state(Email, { account_id, stream_id: email_id })
  const [recipient, ...others] = state._tag === "Message" ? state.recipients : []
  if (recipient === undefined || others.length > 0 || Mask.isReplacement(recipient.address)) return false
  const add = Suppression.add(
    yield* NewIds.now,
    yield* NewIds.newId("SuppressionId"),
    recipient.address,
    "unsubscribe",
    email_id,
  )
  const stream_id = Suppression.streamId(recipient.address)
  yield* store.commit(Suppression, { account_id, stream_id }, add).pipe(
    Effect.catchTag("AlreadySuppressed", () => Effect.void),
    Effect.provideService(Provenance, { ...system, address }),
  )
  return true
})

/** Requests per email and minute that reach the database. One suffices; mailbox providers repeat some. */
export const MAX_UNSUBSCRIBES_PER_MINUTE = 10
/** Emails whose unsubscribe requests are counted in one process; the one used longest ago is removed first. */
export const MAX_UNSUBSCRIBES_COUNTED = 10_000

const MINUTE_MS = 60_000

/**
 * Counts requests with a valid token per email. Not per address, because mailbox providers send requests of many users
 * from few addresses; in memory, so that repeated requests cause no queries.
 */
export const makeWindows = (): ((emailId: EmailId, now_ms: number) => boolean) => {
  const counts = new LruCache<EmailId, { readonly minute: number; readonly requests: number }>({
    maxEntries: MAX_UNSUBSCRIBES_COUNTED,
  })
  return (emailId, now_ms) => {
    const minute = Math.floor(now_ms / MINUTE_MS)
    const counted = counts.get(emailId)
    const requests = counted?.minute === minute ? counted.requests + 1 : 1
    counts.set(emailId, { minute, requests: Math.min(requests, MAX_UNSUBSCRIBES_PER_MINUTE + 1) })
    return requests <= MAX_UNSUBSCRIBES_PER_MINUTE
  }
}
