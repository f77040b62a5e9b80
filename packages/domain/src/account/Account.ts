import { Array, Result, Schema } from "effect"
import * as Refusal from "../values/Refusal.ts"
import type * as Aggregate from "../values/Aggregate.ts"
import * as Id from "../values/Id.ts"
import * as Plan from "./Plan.ts"
import * as RateLimit from "./RateLimit.ts"
import { NothingNew } from "../values/Refusal.ts"
import * as SendBatch from "./SendBatch.ts"
import * as SteeringHeader from "./SteeringHeader.ts"
import * as Text from "../values/Text.ts"
import * as Timestamp from "../values/Timestamp.ts"

export const stream = "account" as const

export const MAX_NAME_CHARS = 100
export const Name = Text.name(MAX_NAME_CHARS)
/** How long the content of a message is kept. 0 removes it as soon as delivery no longer needs it. */
export const DEFAULT_RETENTION_DAYS = 30
export const MAX_RETENTION_DAYS = 365
/** Allowed range for how long the history of a finished message is kept. By default it is kept forever. */
export const MIN_LOG_DAYS = 7
export const MAX_LOG_DAYS = 3_650
/** How long the history of finished test mail is kept, whatever the account's setting. */
export const TEST_LOG_DAYS = 30
/**
 * How long webhook deliveries are kept. The minimum is longer than all retries take, and than
 * `Webhook.FAILING_LIMIT_MS`.
 */
export const DEFAULT_DELIVERY_DAYS = 30
export const MIN_DELIVERY_DAYS = 7
export const MAX_DELIVERY_DAYS = 365
/** The highest limits that an operator can grant: far above any real client, far below a counter overflow. */
export const MAX_GRANTED_PER_MINUTE = 1_000_000
export const MAX_GRANTED_MONTHLY = 1_000_000_000
export const MAX_GRANTED_SCHEDULED_BYTES = 1024 * 1024 * 1024 * 1024

const Granted = Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_GRANTED_PER_MINUTE })))

/** Limits that an operator set in place of the plan's; `null` keeps the plan's. */
export const Limits = Schema.Struct({
  send: Granted,
  logs: Granted,
  other: Granted,
  monthly_emails: Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_GRANTED_MONTHLY }))),
  /** Absent to keep the plan's. */
  scheduled_bytes: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_GRANTED_SCHEDULED_BYTES })),
  ),
})
export type Limits = typeof Limits.Type

export const RetentionDays = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: MAX_RETENTION_DAYS }))

/** How long an account's histories and webhook deliveries are kept. */
export const Keeping = Schema.Struct({
  log_days: Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: MIN_LOG_DAYS, maximum: MAX_LOG_DAYS }))),
  delivery_days: Schema.Int.check(Schema.isBetween({ minimum: MIN_DELIVERY_DAYS, maximum: MAX_DELIVERY_DAYS })),
})
export type Keeping = typeof Keeping.Type

const at = Timestamp.Timestamp

export const Event = Schema.TaggedUnion({
  AccountCreated: { account_id: Id.AccountId, name: Text.Stored, plan: Plan.Plan, at },
  PlanChanged: { plan: Plan.Plan, at },
  LimitsChanged: { limits: Limits, at },
  RetentionChanged: { content_days: RetentionDays, at },
  KeepingChanged: { keeping: Keeping, at },
  /** Whether tracked links of this account redirect. An operator stops them when they are used for phishing. */
  LinksChanged: { followed: Schema.Boolean, at },
  /** Headers that steer a provider and that this account may send, in place of those before. */
  AllowedHeadersChanged: { names: Schema.Array(Text.Stored), at },
  /** A batch of emails is paused, canceled or, by `null`, neither any more. Its emails carry its id. */
  SendBatchChanged: { batch_id: Text.Stored, status: Schema.NullOr(SendBatch.Status), at },
  /** An address was erased from this account's history. `erased_as` is the pseudonym that replaced it. */
  AddressErased: { erased_as: Text.Stored, streams: Schema.Natural, events: Schema.Natural, at },
})
export type Event = typeof Event.Type

export type State =
  | { readonly _tag: "NotCreated" }
  | {
      readonly _tag: "Account"
      readonly account_id: Id.AccountId
      readonly name: string
      readonly plan: Plan.Plan
      readonly granted: Limits
      readonly content_days: number
      readonly keeping: Keeping
      /** When an operator stopped this account's tracked links; absent while they redirect. */
      readonly links_stopped_at?: Timestamp.Timestamp
      /** Headers that an operator allowed; absent without any. */
      readonly allowed_headers?: ReadonlyArray<string>
      /** Batches that are paused or canceled; absent if none ever was. */
      readonly batches?: ReadonlyArray<SendBatch.SendBatch>
      readonly created_at: Timestamp.Timestamp
    }
export type Account = Extract<State, { readonly _tag: "Account" }>

export const initial: State = { _tag: "NotCreated" }

export const NONE_GRANTED: Limits = { ...RateLimit.NONE_GRANTED, monthly_emails: null }

export const DEFAULT_KEEPING: Keeping = { log_days: null, delivery_days: DEFAULT_DELIVERY_DAYS }

/** @public A part of the aggregate. */
export const evolve = (state: State, event: Event): State => {
  if (event._tag === "AccountCreated") {
    if (state._tag === "Account") return state
    const { account_id, name, plan } = event
    return {
      _tag: "Account",
      account_id,
      name,
      plan,
      granted: NONE_GRANTED,
      content_days: DEFAULT_RETENTION_DAYS,
      keeping: DEFAULT_KEEPING,
      created_at: event.at,
    }
  }
  if (state._tag === "NotCreated") return state
  switch (event._tag) {
    case "PlanChanged":
      return { ...state, plan: event.plan }
    case "LimitsChanged":
      return { ...state, granted: event.limits }
    case "RetentionChanged":
      return { ...state, content_days: event.content_days }
    case "KeepingChanged":
      return { ...state, keeping: event.keeping }
    case "LinksChanged": {
      const { links_stopped_at, ...others } = state
      return event.followed ? others : { ...others, links_stopped_at: links_stopped_at ?? event.at }
    }
    case "AllowedHeadersChanged": {
      const { allowed_headers: _, ...others } = state
      return event.names.length === 0 ? others : { ...others, allowed_headers: event.names }
    }
    case "SendBatchChanged":
      return { ...state, batches: SendBatch.changed(state.batches ?? [], event.batch_id, event.status) }
    case "AddressErased":
      return state
  }
}

/** Returns the limits in force, with the field names of `GET /account`. */
export const limitsOf = (account: Account) => {
  const terms = Plan.TERMS[account.plan]
  return {
    monthly_emails: account.granted.monthly_emails ?? terms.monthly_emails,
    max_recipients: terms.max_recipients,
    send_per_minute: RateLimit.limitOf("send", account.granted),
    logs_per_minute: RateLimit.limitOf("logs", account.granted),
    other_per_minute: RateLimit.limitOf("other", account.granted),
  }
}

/** Returns the bytes of content that scheduled mail of a month may have. Not stored with the other limits. */
export const scheduledBytesOf = ({ granted, plan }: Pick<Account, "granted" | "plan">): number =>
  granted.scheduled_bytes ?? Plan.TERMS[plan].scheduled_bytes

export class AccountNotFound extends Refusal.of("AccountNotFound", 404, "account_not_found") {
  override readonly message = "No account with this id exists."
}

type Decide<Error> = Aggregate.Decide<State, Event, Error>

export const create =
  (now: Timestamp.Timestamp, account_id: Id.AccountId, name: string, plan: Plan.Plan): Decide<NothingNew> =>
  (state) =>
    state._tag === "Account"
      ? Result.fail(new NothingNew())
      : Result.succeed(Array.of<Event>({ _tag: "AccountCreated", account_id, name, plan, at: now }))

const change =
  (differs: (account: Account) => boolean, event: Event): Decide<AccountNotFound | NothingNew> =>
  (state) => {
    if (state._tag === "NotCreated") return Result.fail(new AccountNotFound())
    return differs(state) ? Result.succeed(Array.of(event)) : Result.fail(new NothingNew())
  }

export const changePlan = (now: Timestamp.Timestamp, plan: Plan.Plan) =>
  change((account) => account.plan !== plan, { _tag: "PlanChanged", plan, at: now })

/** Replaces all granted limits at once, so that the event holds the complete set in force. */
export const changeLimits = (now: Timestamp.Timestamp, limits: Limits) =>
  change(
    ({ granted }) =>
      granted.send !== limits.send ||
      granted.logs !== limits.logs ||
      granted.other !== limits.other ||
      granted.monthly_emails !== limits.monthly_emails ||
      granted.scheduled_bytes !== limits.scheduled_bytes,
    { _tag: "LimitsChanged", limits, at: now },
  )

export const changeRetention = (now: Timestamp.Timestamp, content_days: number) =>
  change((account) => account.content_days !== content_days, { _tag: "RetentionChanged", content_days, at: now })

export const changeKeeping = (now: Timestamp.Timestamp, keeping: Keeping) =>
  change(
    (account) =>
      account.keeping.log_days !== keeping.log_days || account.keeping.delivery_days !== keeping.delivery_days,
    { _tag: "KeepingChanged", keeping, at: now },
  )

export const changeLinks = (now: Timestamp.Timestamp, followed: boolean) =>
  change((account) => followed !== (account.links_stopped_at === undefined), {
    _tag: "LinksChanged",
    followed,
    at: now,
  })

/** Replaces the headers that steer a provider and that the account may send. */
export const changeAllowedHeaders = (now: Timestamp.Timestamp, allowed: ReadonlyArray<string>) => {
  const names = SteeringHeader.normalize(allowed)
  return change(({ allowed_headers = [] }) => allowed_headers.join() !== names.join(), {
    _tag: "AllowedHeadersChanged",
    names,
    at: now,
  })
}

/** Returns the status of a batch; `undefined` if it is sent. */
export const batchStatus = (state: State, batch_id: string): SendBatch.Status | undefined =>
  state._tag === "Account" ? state.batches?.find((each) => each.batch_id === batch_id)?.status : undefined

/** Pauses or cancels a batch; `null` ends that. */
export const changeBatch =
  (
    now: Timestamp.Timestamp,
    batch_id: string,
    status: SendBatch.Status | null,
    /** Whether a batch counts in the number of those that may be paused or canceled. */
    counts: (batch_id: string) => boolean,
  ): Decide<AccountNotFound | SendBatch.TooManyChanged | NothingNew> =>
  (state) => {
    if (state._tag === "NotCreated") return Result.fail(new AccountNotFound())
    if (batchStatus(state, batch_id) === (status ?? undefined)) return Result.fail(new NothingNew())
    const changed = SendBatch.changed(state.batches ?? [], batch_id, status).filter((each) => counts(each.batch_id))
    return changed.length > SendBatch.MAX_CHANGED
      ? Result.fail(new SendBatch.TooManyChanged())
      : Result.succeed(Array.of<Event>({ _tag: "SendBatchChanged", batch_id, status, at: now }))
  }

export const recordErased = (
  now: Timestamp.Timestamp,
  erased_as: string,
  counts: { streams: number; events: number },
) => change(() => true, { _tag: "AddressErased", erased_as, ...counts, at: now })
