import * as Email from "@waybill/domain/Email"
import type { EmailId } from "@waybill/domain/Id"
import * as Suppression from "@waybill/domain/Suppression"
import * as Unsubscribe from "@waybill/mail/Unsubscribe"
import * as EmailAccounts from "@waybill/store/EmailAccounts"
import { EventStore } from "@waybill/store/EventStore"
import { InstanceKey } from "@waybill/store/InstanceKey"
import { Provenance, system } from "@waybill/store/Provenance"
import { Effect, Option } from "effect"
import { newId, now } from "./fresh.ts"

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

/** Takes the recipient of an email off; false for an email that is not here. A second time changes nothing. */
export const unsubscribe = Effect.fn("unsubscribe")(function* (emailId: EmailId, address: string) {
  const store = yield* EventStore
  const account = yield* EmailAccounts.accountOf(emailId)
  if (Option.isNone(account)) return false
  const account_id = account.value
  const state = yield* store.state(Email, { account_id, stream_id: emailId })
  const [recipient, ...others] = state._tag === "Message" ? state.recipients : []
  if (recipient === undefined || others.length > 0) return false
  const add = Suppression.add(yield* now, yield* newId("SuppressionId"), recipient.address, "unsubscribe", emailId)
  const stream_id = Suppression.streamId(recipient.address)
  yield* store.commit(Suppression, { account_id, stream_id }, add).pipe(
    Effect.catchTag("AlreadySuppressed", () => Effect.void),
    Effect.provideService(Provenance, { ...system, address }),
  )
  return true
})
