import type { PgClient } from "@effect/sql-pg"
import type { AccountId } from "@waybill/domain/values/Id"
import * as Authentication from "@waybill/mail/incoming/Authentication"
import type { Dns } from "@waybill/mail/dns/Dns"
import * as ReadInbound from "@waybill/mail/incoming/InboundMail"
import { FIRST } from "@waybill/store/routing/CellName"
import { inCell } from "@waybill/store/routing/CurrentCell"
import * as RateWindows from "@waybill/store/admission/RateWindows"
import type { EventStore } from "@waybill/store/commit/EventStore"
import * as Provenance from "@waybill/store/log/Provenance"
import type { InstanceKey } from "@waybill/store/secrets/InstanceKey"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import { Clock, Effect, Option } from "effect"
import { Guesses } from "../inbound/Guesses.ts"
import * as InboundAddresses from "../inbound/InboundAddresses.ts"
import * as InboundReception from "../inbound/InboundReception.ts"
import * as ForwardMarks from "../links/ForwardMarks.ts"
import type { Instance } from "../settings/Instance.ts"
import type * as Listener from "./Listener.ts"
import { line, reply, type SmtpReply } from "./SmtpReply.ts"

/** Maximum number of recipients of one mail. */
export const MAX_RECIPIENTS = 100
/** Bytes of received mail that is being read or processed; the rest of what the listener holds is for reports. */
export const MAX_BYTES_HELD = 192 * 1024 * 1024
/** Servers that a mail may have passed, by its Received fields. More of them are a circle. */
export const MAX_HOPS = 50
/** Received mail of an account within a UTC day, and its size: each is kept for a month. */
export const MAX_MAILS_PER_DAY = 100_000
export const MAX_BYTES_PER_DAY = 10 * 1024 * 1024 * 1024
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
  readonly maxBytes: number
  /** Whether an address receives mail. A client that guesses addresses is put off. */
  readonly receives: (
    address: string,
    client: Listener.Client,
  ) => Effect.Effect<boolean, SmtpReply | StoreUnavailable, R>
  /** Returns the text of the reply 250. */
  readonly message: (
    bytes: Buffer,
    transaction: Listener.Transaction<never>,
    recipients: ReadonlyArray<string>,
  ) => Effect.Effect<string, SmtpReply | StoreUnavailable, R>
}

type Needs = EventStore | PgClient.PgClient | Dns | Instance | InstanceKey

export const make = (options: Options): OtherMail<Needs> => ({
  maxBytes: options.maxBytes,
  receives: receives(options, new Guesses()),
  message: (bytes, transaction, recipients) => receive(options, bytes, transaction, recipients),
})

const receives = ({ maxBytes }: Options, guesses: Guesses): OtherMail<Needs>["receives"] =>
  Effect.fnUntraced(function* (address, client) {
    const network = RateWindows.clientAddress(client.address).bucket
    const now = yield* Clock.currentTimeMillis
    if (guesses.areOver(network, now)) return yield* GUESSING
    const found = yield* InboundAddresses.find(address)
    if (Option.isNone(found)) {
      guesses.add(network, now)
      return false
    }
    const { size = 0 } = client
    if (size > maxBytes) return yield* tooLarge(maxBytes)
    if (size >= ASKED_FROM_BYTES && !(yield* hasToday(found.value.account_id, size))) return yield* FULL
    return true
  })

/** Records a mail for each account that it came for, unless their routes refuse it. The mail is durable before the 250, and never bounced after it. */
const receive = Effect.fn("InboundMail.receive")(function* (
  { days, maxBytes, name }: Options,
  bytes: Buffer,
  { address, from, helo, tls }: Listener.Transaction<never>,
  recipients: ReadonlyArray<string>,
): Effect.fn.Return<string, SmtpReply | StoreUnavailable, Needs> {
  if (bytes.length > maxBytes) return yield* tooLarge(maxBytes)
  const queue = `inbound of ${RateWindows.clientAddress(address).bucket}`
  const { hops, marks, sha256 } = yield* Effect.catch(ReadInbound.digest(bytes, queue), () => BUSY)
  if (hops > MAX_HOPS) return yield* LOOP
  const hasPassed = yield* ForwardMarks.hasPassed(marks)
  const all = yield* Effect.forEach(recipients, InboundAddresses.find)
  const found = all.filter((receiver) => Option.exists(receiver, ({ address }) => !hasPassed(address)))
  if (found.length === 0) return yield* CIRCLE
  const receivers = Map.groupBy(
    found.flatMap((receiver) => Option.toArray(receiver)),
    ({ account_id }) => account_id,
  )
  yield* Effect.forEach(receivers.keys(), (account_id) => takeOfDay(account_id, bytes.length), { discard: true })
  const heading = yield* Effect.catch(ReadInbound.heading(bytes, queue), () => BUSY)
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
  return line("2.0.0", `Received as ${ids.join(", ")}`)
})

const MEGABYTE = 1024 * 1024
const megabytesOf = (bytes: number) => Math.ceil(bytes / MEGABYTE)
const MAX_MEGABYTES_PER_DAY = MAX_BYTES_PER_DAY / MEGABYTE

/** Whether an account may receive a mail of this size today. */
const hasToday = (account_id: AccountId, bytes: number) =>
  Effect.map(
    inCell(
      FIRST,
      Effect.all([RateWindows.takenOfDay(`${account_id}/inbound`), RateWindows.takenOfDay(`${account_id}/inbound_mb`)]),
    ),
    ([mails, megabytes]) => mails < MAX_MAILS_PER_DAY && megabytes + megabytesOf(bytes) <= MAX_MEGABYTES_PER_DAY,
  )

/** Takes a mail and its size from what the account has of a day. */
const takeOfDay = Effect.fnUntraced(function* (account_id: AccountId, bytes: number) {
  const taken = (name: string, amount: number, most: number) =>
    inCell(FIRST, RateWindows.takeOfDay(`${account_id}/${name}`, amount, most))
  if ((yield* taken("inbound", 1, MAX_MAILS_PER_DAY)) !== undefined) return yield* FULL
  if ((yield* taken("inbound_mb", megabytesOf(bytes), MAX_MEGABYTES_PER_DAY)) !== undefined) return yield* FULL
})
