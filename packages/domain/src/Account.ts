import { Array, Result, Schema } from "effect"
import type * as Aggregate from "./Aggregate.ts"
import * as Id from "./Id.ts"
import * as Plan from "./Plan.ts"
import * as RateLimit from "./RateLimit.ts"
import { NothingNew } from "./Refusal.ts"
import * as Text from "./Text.ts"
import * as Timestamp from "./Timestamp.ts"

export const stream = "account" as const

/** How long the body of a message is kept; 0 forgets it as soon as nobody needs it for delivery. */
export const DEFAULT_RETENTION_DAYS = 30
export const MAX_RETENTION_DAYS = 365
/** What an operator may grant at most: far above any real client, far below what would overflow a counter. */
export const MAX_GRANTED_PER_MINUTE = 1_000_000
export const MAX_GRANTED_MONTHLY = 1_000_000_000

const Granted = Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_GRANTED_PER_MINUTE })))

/** What an operator changed from the plan and the specification; `null` leaves their number. */
export const Limits = Schema.Struct({
  send: Granted,
  logs: Granted,
  other: Granted,
  monthly_emails: Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_GRANTED_MONTHLY }))),
})
export type Limits = typeof Limits.Type

export const RetentionDays = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: MAX_RETENTION_DAYS }))

const at = Timestamp.Timestamp

export const Event = Schema.TaggedUnion({
  AccountCreated: { account_id: Id.AccountId, name: Text.Stored, plan: Plan.Plan, at },
  PlanChanged: { plan: Plan.Plan, at },
  LimitsChanged: { limits: Limits, at },
  RetentionChanged: { content_days: RetentionDays, at },
})
export type Event = typeof Event.Type

export type State =
  | { readonly _tag: "Unborn" }
  | {
      readonly _tag: "Account"
      readonly account_id: Id.AccountId
      readonly name: string
      readonly plan: Plan.Plan
      readonly granted: Limits
      readonly content_days: number
      readonly created_at: Timestamp.Timestamp
    }
export type Account = Extract<State, { readonly _tag: "Account" }>

export const initial: State = { _tag: "Unborn" }

export const NONE_GRANTED: Limits = { ...RateLimit.NONE_GRANTED, monthly_emails: null }

export const evolve = (state: State, event: Event): State => {
  if (event._tag === "AccountCreated") {
    if (state._tag === "Account") return state
    const { account_id, name, plan } = event
    const content_days = DEFAULT_RETENTION_DAYS
    return { _tag: "Account", account_id, name, plan, granted: NONE_GRANTED, content_days, created_at: event.at }
  }
  if (state._tag === "Unborn") return state
  switch (event._tag) {
    case "PlanChanged":
      return { ...state, plan: event.plan }
    case "LimitsChanged":
      return { ...state, granted: event.limits }
    case "RetentionChanged":
      return { ...state, content_days: event.content_days }
  }
}

/** The numbers that hold for an account now, in the words of `GET /account`. */
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

export class AccountNotFound extends Schema.TaggedError<AccountNotFound>()("AccountNotFound", {}) {
  readonly status = 404
  readonly code = "not_found"
  readonly reason = "account_not_found"
  override get message() {
    return "No account with this id exists."
  }
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
    if (state._tag === "Unborn") return Result.fail(new AccountNotFound())
    return differs(state) ? Result.succeed(Array.of(event)) : Result.fail(new NothingNew())
  }

export const changePlan = (now: Timestamp.Timestamp, plan: Plan.Plan) =>
  change((account) => account.plan !== plan, { _tag: "PlanChanged", plan, at: now })

/** Replaces all granted numbers at once, so that the event says what holds from now on. */
export const changeLimits = (now: Timestamp.Timestamp, limits: Limits) =>
  change(
    ({ granted }) =>
      granted.send !== limits.send ||
      granted.logs !== limits.logs ||
      granted.other !== limits.other ||
      granted.monthly_emails !== limits.monthly_emails,
    { _tag: "LimitsChanged", limits, at: now },
  )

export const changeRetention = (now: Timestamp.Timestamp, content_days: number) =>
  change((account) => account.content_days !== content_days, { _tag: "RetentionChanged", content_days, at: now })
