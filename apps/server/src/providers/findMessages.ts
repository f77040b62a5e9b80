import * as Livemode from "@waybill/domain/account/Livemode"
import * as Id from "@waybill/domain/values/Id"
import { LruCache } from "@waybill/runtime/collections/LruCache"
import * as ReturnPath from "@waybill/mail/tokens/ReturnPath"
import * as Databases from "@waybill/store/routing/Databases"
import * as ProviderMessages from "@waybill/store/providers/ProviderMessages"
import * as EmailAccounts from "@waybill/store/routing/EmailAccounts"
import { Context, Effect, Option, Schema } from "effect"
import * as ReturnPathKeys from "../installation/ReturnPathKeys.ts"
import type { ProviderEvent } from "./formats/ProviderEvent.ts"

const isEmailId = Schema.is(Id.EmailId)

/** Maximum number of senders' domains whose account a process remembers. */
const MAX_SENDERS = 10_000

/**
 * Accounts in which the last message of a sender's domain was found. Their databases are asked first, so that an event does not
 * cost more with more of them. Others may have the same domain, so that this decides nothing.
 */
const KnownSenders = Context.Reference("@waybill/server/providers/findMessages/KnownSenders", {
  defaultValue: () => new LruCache<string, Id.AccountId>({ maxEntries: MAX_SENDERS }),
})

/** The message of an event, undefined if there is none, or `unanswered` if a database that may have it did not answer. */
export type Found = ProviderMessages.HandedOver | "unanswered" | undefined

/**
 * Finds the messages of events in few statements: by our return path, which names the account, else by the provider's id, else by
 * our Message-ID, which a forward has of its author and others can write. Test mail never reaches a provider.
 */
export const findMessages = Effect.fn("findMessages")(function* (all: ReadonlyArray<ProviderEvent>) {
  const returned = yield* byReturnPath(all)
  const events = all.filter((event) => !returned.has(event))
  const known = yield* KnownSenders
  const likely = (event: ProviderEvent) => known.get(ownIdOf(event)?.sender ?? "")
  const refs = new Map(events.flatMap((event) => (event.ref === undefined ? [] : [[event.ref, likely(event)]])))
  const byRef = yield* search(refs, ProviderMessages.find, ({ ref }) => ref)
  const messages = new Map(byRef.rows.map(({ account_id, email_id, ref }) => [ref, { account_id, email_id }]))
  const ids = new Map(
    events.flatMap((event) => {
      const email_id = ownIdOf(event)?.email_id
      const isFound = event.ref !== undefined && messages.has(event.ref)
      return isFound || email_id === undefined ? [] : [[email_id, likely(event)]]
    }),
  )
  const byId = yield* search(ids, EmailAccounts.known, ({ id }) => id)
  const accounts = new Map(byId.rows.map(({ account_id, id }) => [id, account_id]))
  const find = (event: ProviderEvent): Found => {
    if (returned.has(event)) return returned.get(event)
    const message = event.ref === undefined ? undefined : messages.get(event.ref)
    if (message !== undefined) return message
    // The database that did not answer may have the message of the `ref`.
    if (event.ref !== undefined && byRef.missing.length > 0) return "unanswered"
    const email_id = ownIdOf(event)?.email_id
    const account_id = email_id === undefined ? undefined : accounts.get(email_id)
    if (email_id !== undefined && account_id !== undefined)
      return Livemode.isLive(account_id) ? { account_id, email_id } : undefined
    return email_id !== undefined && byId.missing.length > 0 ? "unanswered" : undefined
  }
  for (const event of events) {
    const found = find(event)
    const sender = ownIdOf(event)?.sender
    if (sender !== undefined && typeof found === "object") known.set(sender, found.account_id)
  }
  return find
})

/** The messages whose return path an event has, which is signed. */
const byReturnPath = Effect.fnUntraced(function* (events: ReadonlyArray<ProviderEvent>) {
  const keys = yield* ReturnPathKeys.returnPathKeys
  const found = new Map<ProviderEvent, Found>()
  for (const event of events) {
    const [localPart = ""] = (event.returnPath ?? "").split("@")
    const path = keys.map((key) => ReturnPath.verify(key, localPart)).find(Option.isSome)
    if (path === undefined) continue
    const { accountStart, emailId } = path.value
    const account_id = yield* Effect.option(EmailAccounts.accountOf(accountStart, emailId))
    if (Option.isNone(account_id)) found.set(event, "unanswered")
    else if (Option.isSome(account_id.value) && Livemode.isLive(account_id.value.value))
      found.set(event, { account_id: account_id.value.value, email_id: emailId })
  }
  return found
})

/** Looks for rows by their keys: in the databases of the accounts that are likely to have them, then in all. */
const search = Effect.fnUntraced(function* <K extends string, A, E, R>(
  wanted: ReadonlyMap<K, Id.AccountId | undefined>,
  find: (keys: ReadonlyArray<K>) => Effect.Effect<ReadonlyArray<A>, E, R>,
  keyOf: (row: A) => K,
) {
  const missed = new Set(wanted.keys())
  const near = [...wanted].flatMap(([key, account_id]) => (account_id === undefined ? [] : [{ key, account_id }]))
  const { placed } = yield* Databases.place((yield* Databases.areSeveral) ? near : [])
  const found = yield* Effect.forEach(
    placed,
    ({ rows }) => Databases.rowsInTimeOfAccount(rows[0]?.account_id ?? "", find(rows.map(({ key }) => key))),
    { concurrency: "unbounded" },
  )
  const rows = found.flatMap(({ rows }) => rows)
  for (const row of rows) missed.delete(keyOf(row))
  const others = missed.size === 0 ? NONE : yield* Databases.rowsInTime(find([...missed]))
  return { rows: [...rows, ...others.rows], missing: others.missing }
})

const NONE: Databases.FoundRows<never> = { rows: [], missing: [] }

/** The email and the sender's domain in our Message-ID. A domain has at most 253 characters. */
const ownIdOf = ({ messageId }: ProviderEvent) => {
  const [, id = "", sender = ""] = /^<?(msg_[0-9a-z]{26})@([^>]{0,253})/u.exec(messageId ?? "") ?? []
  return isEmailId(id) ? { email_id: id, sender } : undefined
}
