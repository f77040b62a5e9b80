import * as Livemode from "@waybill/domain/account/Livemode"
import * as Id from "@waybill/domain/values/Id"
import * as Cells from "@waybill/store/routing/Cells"
import * as ProviderMessages from "@waybill/store/providers/ProviderMessages"
import * as EmailAccounts from "@waybill/store/routing/EmailAccounts"
import { Effect, Schema } from "effect"
import type { ProviderEvent } from "./formats/ProviderEvent.ts"

const isEmailId = Schema.is(Id.EmailId)

/** The message of an event, undefined if there is none, or `unanswered` if a cell that may have it did not answer. */
export type Found = ProviderMessages.HandedOver | "unanswered" | undefined

/**
 * Finds the messages of events in few statements: by the provider's id, else by our Message-ID, which a forward has of its
 * author and others can write. Test mail never reaches a provider.
 */
export const findMessages = Effect.fn("findMessages")(function* (events: ReadonlyArray<ProviderEvent>) {
  const refs = new Set(events.flatMap(({ ref }) => (ref === undefined ? [] : [ref])))
  const byRef = refs.size === 0 ? NONE : yield* Cells.rowsInTime(ProviderMessages.find([...refs]))
  const messages = new Map(byRef.rows.map(({ account_id, email_id, ref }) => [ref, { account_id, email_id }]))
  const isKnown = ({ ref }: ProviderEvent) => ref !== undefined && messages.has(ref)
  const ids = [...new Set(events.flatMap((event) => (isKnown(event) ? [] : emailIdOf(event))))]
  const byId = ids.length === 0 ? NONE : yield* Cells.rowsInTime(EmailAccounts.known(ids))
  const accounts = new Map(byId.rows.map(({ account_id, id }) => [id, account_id]))
  return (event: ProviderEvent): Found => {
    const message = event.ref === undefined ? undefined : messages.get(event.ref)
    if (message !== undefined) return message
    // The cell that did not answer may have the message of the `ref`.
    if (event.ref !== undefined && byRef.missing.length > 0) return "unanswered"
    const [email_id] = emailIdOf(event)
    const account_id = email_id === undefined ? undefined : accounts.get(email_id)
    if (email_id !== undefined && account_id !== undefined)
      return Livemode.isLive(account_id) ? { account_id, email_id } : undefined
    return email_id !== undefined && byId.missing.length > 0 ? "unanswered" : undefined
  }
})

const NONE: Cells.FoundRows<never> = { rows: [], missing: [] }

const emailIdOf = ({ messageId }: ProviderEvent): ReadonlyArray<Id.EmailId> => {
  const [, id = ""] = /^<?(msg_[0-9a-z]{26})@/u.exec(messageId ?? "") ?? []
  return isEmailId(id) ? [id] : []
}
