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
 * Finds the messages of events in few statements: by our Message-ID, else by the provider's id. Test mail never reaches a
 * provider.
 */
export const findMessages = Effect.fn("findMessages")(function* (events: ReadonlyArray<ProviderEvent>) {
  const ids = [...new Set(events.flatMap(emailIdOf))]
  const byId = ids.length === 0 ? NONE : yield* Cells.rowsInTime(EmailAccounts.known(ids))
  const accounts = new Map(byId.rows.map(({ account_id, id }) => [id, account_id]))
  const refs = new Set(
    events.flatMap((event) => {
      const [id] = emailIdOf(event)
      return event.ref === undefined || (id !== undefined && accounts.has(id)) ? [] : [event.ref]
    }),
  )
  const byRef = refs.size === 0 ? NONE : yield* Cells.rowsInTime(ProviderMessages.find([...refs]))
  const messages = new Map(byRef.rows.map((row) => [row.ref, row]))
  return (event: ProviderEvent): Found => {
    const [email_id] = emailIdOf(event)
    if (email_id !== undefined) {
      const account_id = accounts.get(email_id)
      if (account_id !== undefined) return Livemode.isLive(account_id) ? { account_id, email_id } : undefined
      if (byId.missing.length > 0) return "unanswered"
    }
    if (event.ref === undefined) return undefined
    return messages.get(event.ref) ?? (byRef.missing.length > 0 ? "unanswered" : undefined)
  }
})

const NONE: Cells.FoundRows<never> = { rows: [], missing: [] }

const emailIdOf = ({ messageId }: ProviderEvent): ReadonlyArray<Id.EmailId> => {
  const [, id = ""] = /^<?(msg_[0-9a-z]{26})@/u.exec(messageId ?? "") ?? []
  return isEmailId(id) ? [id] : []
}
