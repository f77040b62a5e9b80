import type { PgClient } from "@effect/sql-pg"
import { LruCache } from "@waybill/runtime/collections/LruCache"
import type { AccountId } from "@waybill/domain/values/Id"
import * as Authentication from "@waybill/mail/reading/Authentication"
import type { Dns } from "@waybill/mail/dns/Dns"
import * as ReadInbound from "@waybill/mail/reading/InboundMail"
import * as Databases from "@waybill/store/routing/Databases"
import * as RateWindows from "@waybill/store/admission/RateWindows"
import type { EventStore } from "@waybill/store/commit/EventStore"
import * as Provenance from "@waybill/store/log/Provenance"
import type { InstanceKey } from "@waybill/store/secrets/InstanceKey"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import { Clock, Effect, Option } from "effect"
import { Guesses } from "../inbound/Guesses.ts"
import * as InboundAddresses from "../inbound/InboundAddresses.ts"
import * as InboundReception from "../inbound/InboundReception.ts"
import { LargeMails } from "../inbound/LargeMails.ts"
import * as ForwardMarks from "../links/ForwardMarks.ts"
import type { Instance } from "../settings/Instance.ts"
import type * as Intake from "./Intake.ts"
import { reply, type SmtpReply } from "./SmtpReply.ts"
import * as Replies from "./session/Replies.ts"
import type { SmtpClient, Transaction } from "./session/SessionHandlers.ts"

/** Maximum number of recipients of one mail. */
export const MAX_RECIPIENTS = 100
/** Accepted recipients whose mail has not come that are remembered, and domains whose account is; others are looked up again. */
const MAX_REMEMBERED = 10_000
/** Bytes of received mail that is being read or processed; the rest of what the listener holds is for reports. */
export const MAX_BYTES_HELD = 192 * 1024 * 1024
/** The part of it that large mails have. The rest is for small ones, which wait for nobody. */
const LARGE_PERCENT = 60
/** Servers that a mail may have passed, by its Received fields. More of them are a circle. */
export const MAX_HOPS = 50
/** Received mail of an account within a UTC day, which is kept for a month, and the least that a mail counts as. */
export const MAX_BYTES_PER_DAY = 10 * 1024 * 1024 * 1024
export const LEAST_COUNTED_BYTES = 100 * 1024
/** Size from which a mail is refused before it comes, if the account has no space for it. Smaller ones may come in vain. */
const ASKED_FROM_BYTES = 1024 * 1024

const GUESSING = reply(450, "4.7.1", "Too many unknown recipients from your network, please try again later")
const BUSY = reply(451, "4.3.2", "Too much mail is being read at once, please try again later")
const LOOP = reply(554, "5.4.6", `The mail has passed more than ${MAX_HOPS} servers`)
const CIRCLE = reply(554, "5.4.6", "The mail was forwarded from this address before")
const TOO_FAST = reply(450, "4.7.1", "This account forwards too much mail, please try again later")
const FULL = reply(452, "4.2.2", "This account takes no more mail today, please try again tomorrow")
const tooLarge = (most: number) => reply(552, "5.3.4", `The message is larger than ${most} bytes`)

export interface Options {
  readonly maxBytes: number
  readonly days: number
  /** Name of this server. */
  readonly name: string
}

/** Mail of others than servers that report, on the same port. */
export interface OtherMail<R> {
  /** Returns how much is kept of a mail of a client. */
  readonly keep: (address: string) => Intake.Kept
  /** Whether an address receives mail. A client that guesses addresses is put off. */
  readonly receives: (address: string, client: SmtpClient) => Effect.Effect<boolean, SmtpReply | StoreUnavailable, R>
  /** Returns the text of the reply 250. */
  readonly message: (
    bytes: Buffer,
    transaction: Transaction<never>,
    recipients: ReadonlyArray<string>,
  ) => Effect.Effect<string, SmtpReply | StoreUnavailable, R>
}

type Needs = EventStore | PgClient.PgClient | Dns | Instance | InstanceKey

export const make = (options: Options): OtherMail<Needs> => {
  const accepted: Accepted = new LruCache({ maxEntries: MAX_REMEMBERED })
  const find = InboundAddresses.finder(new LruCache({ maxEntries: MAX_REMEMBERED }))
  const places = Math.floor((MAX_BYTES_HELD * LARGE_PERCENT) / 100 / options.maxBytes)
  const of = new LargeMails(Math.max(1, places))
  return {
    keep: (address) => ({
      bytes: options.maxBytes + 1,
      maxHeld: MAX_BYTES_HELD,
      strictLines: true,
      places: { of, network: RateWindows.clientAddress(address).bucket },
    }),
    receives: receives(options, find, new Guesses(), accepted),
    message: (bytes, transaction, recipients) => receive(options, find, accepted, bytes, transaction, recipients),
  }
}

/** Recipients that were accepted, by connection and address: their mail follows. */
type Accepted = LruCache<string, InboundAddresses.Receiver>
const keyOf = ({ id }: Pick<SmtpClient, "id">, address: string): string => `${id} ${address}`

const receives = (
  { maxBytes }: Options,
  find: InboundAddresses.Find,
  guesses: Guesses,
  accepted: Accepted,
): OtherMail<Needs>["receives"] =>
  Effect.fnUntraced(function* (address, client) {
    const network = RateWindows.clientAddress(client.address).bucket
    const now = yield* Clock.currentTimeMillis
    if (guesses.areOver(network, now)) return yield* GUESSING
    const found = yield* find(address)
    if (Option.isNone(found)) {
      guesses.add(network, now)
      return false
    }
    const { size = 0 } = client
    if (size > maxBytes) return yield* tooLarge(maxBytes)
    if (size >= ASKED_FROM_BYTES && !(yield* hasToday(found.value.account_id, size))) return yield* FULL
    accepted.set(keyOf(client, address), found.value)
    return true
  })

/** Records a mail for each account that it came for, unless their routes refuse it. The mail is durable before the 250, and never bounced after it. */
const receive = Effect.fn("InboundMail.receive")(function* (
  { days, maxBytes, name }: Options,
  find: InboundAddresses.Find,
  accepted: Accepted,
  bytes: Buffer,
  { address, from, helo, id, tls }: Transaction<never>,
  recipients: ReadonlyArray<string>,
): Effect.fn.Return<string, SmtpReply | StoreUnavailable, Needs> {
  if (bytes.length > maxBytes) return yield* tooLarge(maxBytes)
  const queue = `inbound of ${RateWindows.clientAddress(address).bucket}`
  const { heading, hops, marks, sha256 } = yield* Effect.catch(ReadInbound.arrival(bytes, queue), () => BUSY)
  if (hops > MAX_HOPS) return yield* LOOP
  const hasPassed = yield* ForwardMarks.hasPassed(marks)
  const all = yield* Effect.forEach(recipients, (recipient) => {
    const receiver = accepted.get(keyOf({ id }, recipient))
    return receiver === undefined ? find(recipient) : Effect.succeedSome(receiver)
  })
  const found = all.filter((receiver) => Option.exists(receiver, ({ address }) => !hasPassed(address)))
  if (found.length === 0) return yield* CIRCLE
  const receivers = Map.groupBy(
    found.flatMap((receiver) => Option.toArray(receiver)),
    ({ account_id }) => account_id,
  )
  yield* Effect.forEach(receivers.keys(), (account_id) => takeOfDay(account_id, bytes.length), { discard: true })
  const client = { address, from, helo: helo ?? address, receiver: name }
  const auth = yield* Authentication.judge(bytes, client, queue)
  const ids: Array<string> = []
  const refusals: Array<string> = []
  for (const [account_id, addressed] of receivers) {
    const envelope = {
      from,
      to: addressed.map((receiver) => receiver.address),
      remote_ip: RateWindows.clientAddress(address).text,
      helo,
      tls,
    }
    const arrived = { account_id, envelope, bytes, sha256, heading, auth, days }
    const { answer } = yield* InboundReception.receive(arrived).pipe(
      Effect.provideService(Provenance.Provenance, { ...Provenance.system, address }),
      Effect.catchTag("TooManyInboundForwards", () => TOO_FAST),
    )
    ids.push(answer.id)
    if (answer.refusal !== undefined) refusals.push(answer.refusal)
  }
  const [refusal] = refusals
  // A mail that another account has taken was accepted.
  if (refusal !== undefined && refusals.length === ids.length) return yield* reply(550, "5.7.1", refusal)
  return Replies.line("2.0.0", `Received as ${ids.join(", ")}`)
})

/** Returns what a mail takes of a day, in KiB. */
const amountOf = (bytes: number) => Math.ceil(Math.max(bytes, LEAST_COUNTED_BYTES) / 1024)

/** Whether an account may receive a mail of this size today. */
const hasToday = (account_id: AccountId, bytes: number) =>
  Effect.map(
    Databases.ofAccount(account_id, RateWindows.takenOfDay(`${account_id}/inbound`)),
    (taken) => taken + amountOf(bytes) <= MAX_BYTES_PER_DAY / 1024,
  )

/** Takes a mail from what the account has of a day. */
const takeOfDay = Effect.fnUntraced(function* (account_id: AccountId, bytes: number) {
  const limit = MAX_BYTES_PER_DAY / 1024
  const taking = RateWindows.takeOfDay(`${account_id}/inbound`, amountOf(bytes), limit, { isLoose: true })
  if ((yield* Databases.ofAccount(account_id, taking)) !== undefined) return yield* FULL
})
