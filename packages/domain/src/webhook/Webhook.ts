import { Array, Result } from "effect"
import * as Refusal from "../values/Refusal.ts"
import type * as Aggregate from "../values/Aggregate.ts"
import type * as Id from "../values/Id.ts"
import type * as Network from "../values/Network.ts"
import { NothingNew } from "../values/Refusal.ts"
import * as Text from "../values/Text.ts"
import * as Timestamp from "../values/Timestamp.ts"
import type { DisabledReason, Event, State, Subscription, Webhook, WebhookSettings } from "./WebhookState.ts"
import * as WebhookFormat from "./WebhookFormat.ts"
import * as WebhookUrl from "./WebhookUrl.ts"

export { Event, evolve, initial, type State } from "./WebhookState.ts"

export const stream = "webhook" as const

export const MAX_DESCRIPTION_CHARS = 500
export const Description = Text.name(MAX_DESCRIPTION_CHARS, 0)
/** Maximum number of webhooks per account. An event writes a call for each of them that subscribes to it. */
export const MAX_WEBHOOKS = 20
/** How long the previous secret signs beside the new one. */
export const SECRET_OVERLAP_MS = 24 * Timestamp.HOUR
/** An endpoint that fails for this long without a success is disabled. */
export const FAILING_LIMIT_MS = 5 * Timestamp.DAY

/** Returns references to the secrets that sign a call now, newest first. */
export const signingSecrets = (
  { previous, secret_ref }: Pick<Webhook, "secret_ref" | "previous">,
  now: Timestamp.Timestamp,
): ReadonlyArray<string> => [
  secret_ref,
  ...previous.filter(({ until }) => now < until).map((former) => former.secret_ref),
]

export class WebhookNotFound extends Refusal.of("WebhookNotFound", 404, "webhook_not_found") {
  override readonly message = "No webhook with this id exists in this account."
}

export class TooManyWebhooks extends Refusal.of("TooManyWebhooks", 422, "too_many_webhooks") {
  override readonly message = `An account has at most ${MAX_WEBHOOKS} webhooks. Delete one first.`
}

/** Subscriptions to events that cannot be sent in the webhook's format. */
export class EventsNotInFormat extends Refusal.of("EventsNotInFormat", 422, "events_not_in_format")<{
  readonly format: WebhookFormat.Format
  readonly events: ReadonlyArray<string>
}> {
  override readonly message = `The format \`${this.format}\` has no ${this.events.join(", ")}. Remove these from \`events\`, or choose another format.`
}

/** Settings of a new webhook. An absent field or `null` means the default. */
export interface NewWebhook extends Pick<WebhookSettings, "url" | "events" | "description" | "password_ref"> {
  readonly format?: WebhookFormat.Format | null
  readonly svix_headers?: boolean | null
  readonly include_raw?: boolean | null
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
  /** The password of the URL. If it is the hidden one, of the same login, the password stays as it is. */
  readonly password?: { readonly ref: string; readonly isHidden: boolean } | undefined
  readonly events?: ReadonlyArray<Subscription>
  readonly description?: string | null
  readonly format?: WebhookFormat.Format
  readonly svix_headers?: boolean
  readonly include_raw?: boolean
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
    { url, events, description, password_ref, ...chosen }: NewWebhook,
    enabled: boolean,
  ): Decide<WebhookUrl.UrlNotAllowed | EventsNotInFormat | NothingNew | TooManyWebhooks> =>
  (state) => {
    if (state._tag !== "NotCreated") return Result.fail(new NothingNew())
    if (others >= MAX_WEBHOOKS) return Result.fail(new TooManyWebhooks())
    const format = chosen.format ?? WebhookFormat.DEFAULT_FORMAT
    const svix_headers = chosen.svix_headers ?? WebhookFormat.hasSvixHeaders(format)
    const checked = Result.andThen(WebhookUrl.check(url, allowedNetworks), checkFormat(format, events))
    return Result.map(checked, () =>
      Array.of<Event>({
        _tag: "WebhookCreated",
        webhook_id: webhookId,
        url,
        events: distinct(events),
        description,
        format,
        svix_headers,
        ...withRaw(chosen.include_raw === true),
        ...withPassword(password_ref),
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
): Decide<WebhookUrl.UrlNotAllowed | EventsNotInFormat | NothingNew | WebhookNotFound> =>
  ofWebhook((webhook) => {
    const url = change.url ?? webhook.url
    const events = change.events === undefined ? webhook.events : distinct(change.events)
    const description = change.description === undefined ? webhook.description : change.description
    const format = change.format ?? webhook.format
    const ofFormat = format === webhook.format ? webhook.svix_headers : WebhookFormat.hasSvixHeaders(format)
    const raw = change.include_raw ?? webhook.include_raw === true
    const password_ref = passwordAfter(webhook, url, change)
    const svix_headers = change.svix_headers ?? (webhook.svix_headers || ofFormat)
    const changes: Event[] = []
    if (
      url !== webhook.url ||
      events.join() !== webhook.events.join() ||
      description !== webhook.description ||
      format !== webhook.format ||
      svix_headers !== webhook.svix_headers ||
      raw !== (webhook.include_raw === true) ||
      password_ref !== webhook.password_ref
    ) {
      const settings = {
        url,
        events,
        description,
        format,
        svix_headers,
        ...withRaw(raw),
        ...withPassword(password_ref),
      }
      changes.push({ _tag: "WebhookUpdated", ...settings, at: now })
    }
    if (change.enabled === true && !webhook.enabled) changes.push({ _tag: "WebhookEnabled", at: now })
    if (change.enabled === false && webhook.enabled) changes.push(disabled({ ...webhook, url }, "manual", now))
    const checked = url === webhook.url ? Result.succeed(url) : WebhookUrl.check(url, allowedNetworks)
    return Result.flatMap(Result.andThen(checked, checkFormat(format, events)), () =>
      Array.isReadonlyArrayNonEmpty(changes) ? Result.succeed(changes) : Result.fail(new NothingNew()),
    )
  })

const withRaw = (raw: boolean) => (raw ? { include_raw: true as const } : {})

const withPassword = (password_ref: string | undefined) => (password_ref === undefined ? {} : { password_ref })

/** A hidden password that comes back stays what it is, unless it would go to another host or for another user. */
const passwordAfter = (webhook: Webhook, url: WebhookUrl.WebhookUrl, { password, url: given }: Change) => {
  if (given === undefined) return webhook.password_ref
  return password?.isHidden === true && WebhookUrl.isSameLogin(url, webhook.url)
    ? (webhook.password_ref ?? password.ref)
    : password?.ref
}

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
export interface Call {
  readonly url: string
  readonly at: Timestamp.Timestamp
}

/**
 * Disables a webhook whose endpoint answered 410. The answer does not count after the URL was changed or the webhook
 * enabled again.
 */
export const disableGone = (now: Timestamp.Timestamp, called: Call): Decide<NothingNew | WebhookNotFound> =>
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

/** Refuses subscriptions to events that cannot be sent in the format. */
export const checkFormat = (
  format: WebhookFormat.Format,
  events: ReadonlyArray<string>,
): Result.Result<void, EventsNotInFormat> => {
  const missing = events.filter((type) => !WebhookFormat.has(format, type))
  return missing.length === 0 ? Result.void : Result.fail(new EventsNotInFormat({ format, events: missing }))
}
