import * as Email from "@waybill/domain/email/Email"
import type { EmailId } from "@waybill/domain/values/Id"
import * as Suppression from "@waybill/domain/suppression/Suppression"
import * as Unsubscribe from "@waybill/mail/tokens/Unsubscribe"
import * as EmailAccounts from "@waybill/store/readmodels/EmailAccounts"
import { EventStore } from "@waybill/store/commit/EventStore"
import { InstanceKey } from "@waybill/store/secrets/InstanceKey"
import * as Mask from "@waybill/store/erasure/Mask"
import { Provenance, system } from "@waybill/store/commit/Provenance"
import { Effect, Option } from "effect"
import { newId, now } from "../operate/fresh.ts"

/** The first makes, all of them check, so that a link in mail from before a rotation still works. */
export const unsubscribeKeys = Effect.map(InstanceKey, (keyring) => keyring.derive("unsubscribe"))

/**
 * The address in a message's List-Unsubscribe. RFC 8058 wants https, and one address for all recipients of a message
 * would let each of them take the others off: neither is written then.
 */
export const unsubscribeUrl =
  (base: string, secretKey: Uint8Array) =>
  ({ accepted, recipients }: Email.Message): string | undefined =>
    base.startsWith("https://") && recipients.length === 1
      ? `${base.replace(/\/+$/u, "")}${Unsubscribe.PATH}${Unsubscribe.token(secretKey, accepted.email_id)}`
      : undefined

/**
 * Takes the recipient of an email off; false for an email that is not here. A second time changes nothing. Nothing is
 * recorded about a recipient whose address was erased: neither the stand-in for it nor where the request came from.
 */
export const unsubscribe = Effect.fn("unsubscribe")(function* (emailId: EmailId, address: string) {
  const store = yield* EventStore
  const account = yield* EmailAccounts.accountOf(emailId)
  if (Option.isNone(account)) return false
  const account_id = account.value
  const state = yield* store.state(Email, { account_id, stream_id: emailId })
  const [recipient, ...others] = state._tag === "Message" ? state.recipients : []
  if (recipient === undefined || others.length > 0 || Mask.isStandIn(recipient.address)) return false
  const add = Suppression.add(yield* now, yield* newId("SuppressionId"), recipient.address, "unsubscribe", emailId)
  const stream_id = Suppression.streamId(recipient.address)
  yield* store.commit(Suppression, { account_id, stream_id }, add).pipe(
    Effect.catchTag("AlreadySuppressed", () => Effect.void),
    Effect.provideService(Provenance, { ...system, address }),
  )
  return true
})

/** Requests for one email that reach the database. One is enough; providers of mailboxes repeat a few. */
export const MAX_UNSUBSCRIBES_PER_MINUTE = 10
/** Emails whose requests are counted in one process; the one that came first is forgotten first. */
export const MAX_UNSUBSCRIBES_COUNTED = 10_000

const MINUTE_MS = 60_000

/**
 * Admits a request that has shown a valid token. Counted by email and never by address, for providers of mailboxes ask
 * for many of their users from few addresses; in memory, so that whoever repeats one request for ever asks no database.
 */
export const makeWindows = (): ((emailId: EmailId, now_ms: number) => boolean) => {
  const counts = new Map<EmailId, { readonly minute: number; readonly requests: number }>()
  return (emailId, now_ms) => {
    const minute = Math.floor(now_ms / MINUTE_MS)
    const known = counts.get(emailId)
    const requests = known?.minute === minute ? known.requests + 1 : 1
    const [oldest] = counts.keys()
    if (known === undefined && counts.size >= MAX_UNSUBSCRIBES_COUNTED && oldest !== undefined) counts.delete(oldest)
    counts.set(emailId, { minute, requests: Math.min(requests, MAX_UNSUBSCRIBES_PER_MINUTE + 1) })
    return requests <= MAX_UNSUBSCRIBES_PER_MINUTE
  }
}
