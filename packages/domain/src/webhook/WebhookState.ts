import { Schema } from "effect"
import * as Id from "../values/Id.ts"
import * as WebhookType from "./WebhookType.ts"
import * as Text from "../values/Text.ts"
import * as Timestamp from "../values/Timestamp.ts"
import * as WebhookFormat from "./WebhookFormat.ts"
import * as WebhookUrl from "./WebhookUrl.ts"

/** Maximum number of previous secrets that still sign. Each adds a signature to every call. */
export const MAX_PREVIOUS = 4

/** A type that a webhook receives, or `*` for all. */
export const Subscription = Schema.Literals([...WebhookType.WebhookType.literals, "*"]).annotate({
  identifier: "WebhookSubscription",
})
export type Subscription = typeof Subscription.Type

export const DisabledReason = Schema.Literals(["manual", "gone", "failing"])
export type DisabledReason = typeof DisabledReason.Type

const at = Timestamp.Timestamp
/** Names the sealed password of the URL. Absent if the URL has none. */
const password_ref = Schema.optionalKey(Text.Stored)
const settings = {
  url: WebhookUrl.WebhookUrl,
  events: Schema.Array(Subscription),
  description: Schema.NullOr(Text.Stored),
  format: WebhookFormat.Format,
  svix_headers: Schema.Boolean,
  /** Whether calls for received mail have it as it came. Absent if not. */
  include_raw: Schema.optionalKey(Schema.Literal(true)),
  password_ref,
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

export interface WebhookSettings {
  readonly url: WebhookUrl.WebhookUrl
  readonly events: ReadonlyArray<Subscription>
  readonly description: string | null
  readonly format: WebhookFormat.Format
  /** Whether calls have the headers `svix-*` beside `webhook-*`. */
  readonly svix_headers: boolean
  /** Whether calls for received mail have it as it came, if their format has a field for it. Absent if not. */
  readonly include_raw?: true
  /** Names the sealed password of the URL. Absent if the URL has none. */
  readonly password_ref?: string
}

export interface Previous {
  readonly secret_ref: string
  readonly until: Timestamp.Timestamp
}

export interface Webhook extends WebhookSettings {
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

export type State = { readonly _tag: "NotCreated" } | Webhook | { readonly _tag: "Deleted" }

export const initial: State = { _tag: "NotCreated" }

export const evolve = (state: State, event: Event): State => {
  if (event._tag === "WebhookCreated") return state._tag === "NotCreated" ? created(event) : state
  if (state._tag !== "Webhook") return state
  switch (event._tag) {
    case "WebhookUpdated": {
      const { at, _tag, ...settings } = event
      const { include_raw: _, password_ref: __, ...kept } = state
      return { ...kept, ...settings, updated_at: at }
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

const created = (event: typeof Event.cases.WebhookCreated.Type): Webhook => ({
  _tag: "Webhook",
  webhook_id: event.webhook_id,
  url: event.url,
  events: event.events,
  description: event.description,
  format: event.format,
  svix_headers: event.svix_headers,
  ...(event.include_raw === undefined ? {} : { include_raw: event.include_raw }),
  ...(event.password_ref === undefined ? {} : { password_ref: event.password_ref }),
  enabled: event.enabled,
  disabled_reason: event.enabled ? null : "manual",
  secret_ref: event.secret_ref,
  previous: [],
  created_at: event.at,
  updated_at: event.at,
  enabled_at: event.at,
})
