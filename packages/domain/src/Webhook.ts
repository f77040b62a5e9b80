import { Array, Result, Schema } from "effect"
import type * as Aggregate from "./Aggregate.ts"
import * as Id from "./Id.ts"
import type * as Network from "./Network.ts"
import * as PublicType from "./PublicType.ts"
import { NothingNew } from "./Refusal.ts"
import * as Text from "./Text.ts"
import * as Timestamp from "./Timestamp.ts"
import * as WebhookUrl from "./WebhookUrl.ts"

export const stream = "webhook" as const

export const MAX_DESCRIPTION_CHARS = 500
export const Description = Text.name(MAX_DESCRIPTION_CHARS, 0)
/** Maximum number of webhooks per account. Every event of the account is matched against all of them. */
export const MAX_WEBHOOKS = 100
/** How long the previous secret signs beside the new one. */
export const SECRET_OVERLAP_MS = 24 * Timestamp.HOUR
/** Maximum number of previous secrets that still sign. Each adds a signature to every call. */
export const MAX_PREVIOUS = 4
/** An endpoint that fails for this long without a success is disabled. */
export const FAILING_LIMIT_MS = 5 * Timestamp.DAY

export const Subscription = Schema.Union([PublicType.WebhookType, Schema.Literal("*")])
export type Subscription = typeof Subscription.Type

export const DisabledReason = Schema.Literals(["manual", "gone", "failing"])
export type DisabledReason = typeof DisabledReason.Type

const at = Timestamp.Timestamp
const settings = {
  url: WebhookUrl.WebhookUrl,
  events: Schema.Array(Subscription),
  description: Schema.NullOr(Text.Stored),
}

/** Events never hold secrets: `secret_ref` names the sealed secret. */
export const Event = Schema.TaggedUnion({
  WebhookCreated: { webhook_id: Id.WebhookId, ...settings, enabled: Schema.Boolean, secret_ref: Text.Stored, at },
  WebhookUpdated: { ...settings, at },
  WebhookSecretRotated: { secret_ref: Text.Stored, previous_ref: Text.Stored, previous_until: Timestamp.Timestamp, at },
  WebhookEnabled: { at },
  WebhookDisabled: { webhook_id: Id.WebhookId, url: WebhookUrl.WebhookUrl, cause: DisabledReason, at },
  WebhookDeleted: { at },
})
export type Event = typeof Event.Type

export interface Settings {
  readonly url: WebhookUrl.WebhookUrl
  readonly events: ReadonlyArray<Subscription>
  readonly description: string | null
}

export interface Previous {
  readonly secret_ref: string
  readonly until: Timestamp.Timestamp
}

export interface Webhook extends Settings {
  readonly _tag: "Webhook"
  readonly webhook_id: Id.WebhookId
  readonly enabled: boolean
  readonly disabled_reason: DisabledReason | null
  readonly secret_ref: string
  /** Previous secrets that still sign, newest first. */
  readonly previous: ReadonlyArray<Previous>
  readonly created_at: Timestamp.Timestamp
  readonly updated_at: Timestamp.Timestamp
  /** When it was last enabled. Enabling a webhook restarts the time in `FAILING_LIMIT_MS`. */
  readonly enabled_at: Timestamp.Timestamp
}

export type State = { readonly _tag: "Unborn" } | Webhook | { readonly _tag: "Deleted" }

export const initial: State = { _tag: "Unborn" }

export const evolve = (state: State, event: Event): State => {
  if (event._tag === "WebhookCreated") return state._tag === "Unborn" ? born(event) : state
  if (state._tag !== "Webhook") return state
  switch (event._tag) {
    case "WebhookUpdated": {
      const { url, events, description } = event
      return { ...state, url, events, description, updated_at: event.at }
    }
    case "WebhookSecretRotated": {
      const others = state.previous.filter(({ until }) => until > event.at)
      const previous = [{ secret_ref: event.previous_ref, until: event.previous_until }, ...others].slice(
        0,
        MAX_PREVIOUS,
      )
      return { ...state, secret_ref: event.secret_ref, previous, updated_at: event.at }
    }
    case "WebhookEnabled":
      return { ...state, enabled: true, disabled_reason: null, enabled_at: event.at, updated_at: event.at }
    case "WebhookDisabled":
      return { ...state, enabled: false, disabled_reason: event.cause, updated_at: event.at }
    case "WebhookDeleted":
      return { _tag: "Deleted" }
  }
}

const born = (created: typeof Event.cases.WebhookCreated.Type): Webhook => ({
  _tag: "Webhook",
  webhook_id: created.webhook_id,
  url: created.url,
  events: created.events,
  description: created.description,
  enabled: created.enabled,
  disabled_reason: created.enabled ? null : "manual",
  secret_ref: created.secret_ref,
  previous: [],
  created_at: created.at,
  updated_at: created.at,
  enabled_at: created.at,
})

/** Whether a webhook with these subscriptions receives an event of this type. */
export const matches = (
  webhook: { readonly enabled: boolean; readonly events: ReadonlyArray<string> },
  type: PublicType.PublicType,
): boolean =>
  webhook.enabled && PublicType.isWebhookType(type) && (webhook.events.includes("*") || webhook.events.includes(type))

/** Returns references to the secrets that sign a call now, newest first. */
export const signingSecrets = (
  { previous, secret_ref }: Pick<Webhook, "secret_ref" | "previous">,
  now: Timestamp.Timestamp,
): ReadonlyArray<string> => [
  secret_ref,
  ...previous.filter(({ until }) => now < until).map((former) => former.secret_ref),
]

export class WebhookNotFound extends Schema.TaggedError<WebhookNotFound>()("WebhookNotFound", {}) {
  readonly status = 404
  readonly code = "not_found"
  readonly reason = "webhook_not_found"
  override get message() {
    return "No webhook with this id exists in this account."
  }
}

export class TooManyWebhooks extends Schema.TaggedError<TooManyWebhooks>()("TooManyWebhooks", {}) {
  readonly status = 422
  readonly code = "unprocessable"
  readonly reason = "too_many_webhooks"
  override get message() {
    return `An account has at most ${MAX_WEBHOOKS} webhooks. Delete one first.`
  }
}

/** Server state that the creation of a webhook needs. */
export interface Creation {
  readonly now: Timestamp.Timestamp
  readonly webhookId: Id.WebhookId
  readonly secretRef: string
  readonly allowedNetworks: ReadonlyArray<Network.Network>
  /** Number of webhooks in the account. */
  readonly others: number
}

/** A change of settings; absent fields stay as they are. */
export interface Change {
  readonly url?: WebhookUrl.WebhookUrl
  readonly events?: ReadonlyArray<Subscription>
  readonly description?: string | null
  readonly enabled?: boolean
}

type Decide<Error> = Aggregate.Decide<State, Event, Error>

const ofWebhook =
  <Error>(
    decide: (webhook: Webhook) => Result.Result<Array.NonEmptyReadonlyArray<Event>, Error>,
  ): Decide<Error | WebhookNotFound> =>
  (state) =>
    state._tag === "Webhook" ? decide(state) : Result.fail(new WebhookNotFound())

export const create =
  (
    { now, webhookId, secretRef, allowedNetworks, others }: Creation,
    { url, events, description }: Settings,
    enabled: boolean,
  ): Decide<WebhookUrl.UrlNotAllowed | NothingNew | TooManyWebhooks> =>
  (state) => {
    if (state._tag !== "Unborn") return Result.fail(new NothingNew())
    if (others >= MAX_WEBHOOKS) return Result.fail(new TooManyWebhooks())
    return Result.map(WebhookUrl.check(url, allowedNetworks), () =>
      Array.of<Event>({
        _tag: "WebhookCreated",
        webhook_id: webhookId,
        url,
        events: distinct(events),
        description,
        enabled,
        secret_ref: secretRef,
        at: now,
      }),
    )
  }

/** Changes settings and enables or disables the webhook. Each is an event of its own. */
export const update = (
  now: Timestamp.Timestamp,
  change: Change,
  allowedNetworks: ReadonlyArray<Network.Network>,
): Decide<WebhookUrl.UrlNotAllowed | NothingNew | WebhookNotFound> =>
  ofWebhook((webhook) => {
    const url = change.url ?? webhook.url
    const events = change.events === undefined ? webhook.events : distinct(change.events)
    const description = change.description === undefined ? webhook.description : change.description
    const facts: Event[] = []
    if (url !== webhook.url || events.join() !== webhook.events.join() || description !== webhook.description)
      facts.push({ _tag: "WebhookUpdated", url, events, description, at: now })
    if (change.enabled === true && !webhook.enabled) facts.push({ _tag: "WebhookEnabled", at: now })
    if (change.enabled === false && webhook.enabled) facts.push(disabled({ ...webhook, url }, "manual", now))
    const checked = url === webhook.url ? Result.succeed(url) : WebhookUrl.check(url, allowedNetworks)
    return Result.flatMap(checked, () =>
      Array.isReadonlyArrayNonEmpty(facts) ? Result.succeed(facts) : Result.fail(new NothingNew()),
    )
  })

export const rotateSecret = (now: Timestamp.Timestamp, secretRef: string): Decide<WebhookNotFound> =>
  ofWebhook((webhook) =>
    Result.succeed(
      Array.of<Event>({
        _tag: "WebhookSecretRotated",
        secret_ref: secretRef,
        previous_ref: webhook.secret_ref,
        previous_until: Timestamp.plus(now, SECRET_OVERLAP_MS),
        at: now,
      }),
    ),
  )

/** The URL and time of a call. */
export interface Called {
  readonly url: string
  readonly at: Timestamp.Timestamp
}

/**
 * Disables a webhook whose endpoint answered 410. The answer does not count after the URL was changed or the webhook
 * enabled again.
 */
export const disableGone = (now: Timestamp.Timestamp, called: Called): Decide<NothingNew | WebhookNotFound> =>
  ofWebhook((webhook) =>
    called.url === webhook.url && called.at >= webhook.enabled_at
      ? whileEnabled(webhook, "gone", now)
      : Result.fail(new NothingNew()),
  )

/**
 * Disables a webhook that has failed for too long. `failingSince` is the first failure after the last success, or
 * `null`. The first failure after days without events therefore does not disable it.
 */
export const disableFailing = (
  now: Timestamp.Timestamp,
  failingSince: Timestamp.Timestamp | null,
): Decide<NothingNew | WebhookNotFound> =>
  ofWebhook((webhook) => {
    if (failingSince === null) return Result.fail(new NothingNew())
    const since = Timestamp.latest(failingSince, webhook.enabled_at)
    return Timestamp.between(since, now) >= FAILING_LIMIT_MS
      ? whileEnabled(webhook, "failing", now)
      : Result.fail(new NothingNew())
  })

const whileEnabled = (webhook: Webhook, cause: DisabledReason, now: Timestamp.Timestamp) =>
  webhook.enabled ? Result.succeed(Array.of(disabled(webhook, cause, now))) : Result.fail(new NothingNew())

const disabled = ({ webhook_id, url }: Webhook, cause: DisabledReason, now: Timestamp.Timestamp): Event => ({
  _tag: "WebhookDisabled",
  webhook_id,
  url,
  cause,
  at: now,
})

export const remove = (now: Timestamp.Timestamp): Decide<WebhookNotFound> =>
  ofWebhook(() => Result.succeed(Array.of<Event>({ _tag: "WebhookDeleted", at: now })))

const distinct = (events: ReadonlyArray<Subscription>): ReadonlyArray<Subscription> =>
  events.includes("*") ? ["*"] : [...new Set(events)]
