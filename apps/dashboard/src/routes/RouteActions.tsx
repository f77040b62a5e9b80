import type { ReactNode } from "react"
import type { InboundRoute, Webhook } from "../api/Records.ts"
import { SelectField, TextField } from "../ui/controls/Field.tsx"

export type ActionType = InboundRoute["action"]["type"]

/** Input of the form for all actions, so that a change of the action loses nothing. */
export interface ActionDraft {
  /** Empty for all webhooks that subscribe. */
  readonly webhook_id: string
  readonly message: string
  /** Addresses with commas between them. */
  readonly to: string
}

interface FieldsProps {
  readonly draft: ActionDraft
  readonly onChange: (change: Partial<ActionDraft>) => void
  readonly webhooks: ReadonlyArray<Webhook>
  /** Message about a field of the action, by its name in the API. */
  readonly errorOf: (field: string) => string | undefined
}

interface ActionKind {
  readonly name: string
  readonly hint: string
  /** The action in the list of routes. */
  readonly words: (action: InboundRoute["action"], webhooks: ReadonlyArray<Webhook>) => string
  /** Whether no later route is tried, whatever `stop` says. */
  readonly isLast: boolean
  readonly bodyOf: (draft: ActionDraft) => object
  readonly Fields?: (props: FieldsProps) => ReactNode
}

const addressesOf = (text: string): ReadonlyArray<string> =>
  text
    .split(/[,;\s]/u)
    .map((address) => address.trim())
    .filter((address) => address !== "")

/** The form and the words of each action, in the order of the choice. */
export const ACTIONS: { readonly [T in ActionType]: ActionKind } = {
  webhook: {
    name: "Call a webhook",
    hint: "Your endpoint gets the whole mail, signed, and again until it accepts it.",
    words: ({ webhook_id }, webhooks) =>
      webhook_id === null
        ? "Call all webhooks that subscribe to received mail"
        : `Call ${webhooks.find(({ id }) => id === webhook_id)?.url ?? webhook_id}`,
    isLast: false,
    bodyOf: ({ webhook_id }) => (webhook_id === "" ? {} : { webhook_id }),
    Fields: ({ draft, errorOf, onChange, webhooks }) => (
      <SelectField
        label="Webhook"
        value={draft.webhook_id}
        onChange={(event) => onChange({ webhook_id: event.target.value })}
        error={errorOf("webhook_id")}
      >
        <option value="">All that subscribe to received mail</option>
        {draft.webhook_id === "" || webhooks.some(({ id }) => id === draft.webhook_id) ? undefined : (
          <option value={draft.webhook_id}>{draft.webhook_id} (deleted)</option>
        )}
        {webhooks.map(({ id, url }) => (
          <option key={id} value={id}>
            {url}
          </option>
        ))}
      </SelectField>
    ),
  },
  forward: {
    name: "Forward",
    hint: "The mail is sent on as it came, sealed by ARC. Each address counts as an email of yours.",
    words: ({ to }) => `Forward to ${(to ?? []).join(", ")}`,
    isLast: false,
    bodyOf: ({ to }) => ({ to: addressesOf(to) }),
    Fields: ({ draft, errorOf, onChange }) => (
      <TextField
        label="Addresses"
        hint="Up to 10. Separate with commas."
        value={draft.to}
        onChange={(event) => onChange({ to: event.target.value })}
        error={errorOf("to") ?? addressesOf(draft.to).flatMap((_, nth) => errorOf(`to[${nth}]`) ?? [])[0]}
        required
      />
    ),
  },
  store: {
    name: "Store",
    hint: "The mail appears under Received. No webhook is called.",
    words: () => "Store, without a call",
    isLast: false,
    bodyOf: () => ({}),
  },
  drop: {
    name: "Drop",
    hint: "The mail is accepted and recorded as dropped, and nothing else happens. No later route is tried.",
    words: () => "Accept and drop",
    isLast: true,
    bodyOf: () => ({}),
  },
  reject: {
    name: "Reject",
    hint: "The sending server gets an error, and tells its user. No other route applies.",
    words: ({ message }) => `Reject: ${message ?? ""}`,
    isLast: true,
    bodyOf: ({ message }) => (message.trim() === "" ? {} : { message: message.trim() }),
    Fields: ({ draft, errorOf, onChange }) => (
      <TextField
        label="Message to the sender"
        hint="In English letters. Leave empty for “This address does not accept the message”."
        value={draft.message}
        onChange={(event) => onChange({ message: event.target.value })}
        error={errorOf("message")}
      />
    ),
  },
}

export const ACTION_TYPES = Object.keys(ACTIONS) as unknown as ReadonlyArray<ActionType>

export const draftOf = (action: InboundRoute["action"] | undefined): ActionDraft => ({
  webhook_id: action?.webhook_id ?? "",
  message: action?.message ?? "",
  to: (action?.to ?? []).join(", "),
})

/** Whether a route ends the choice when it applies. */
export const isEnd = ({ action, stop }: InboundRoute): boolean => stop || ACTIONS[action.type].isLast

export const wordsOf = ({ action }: InboundRoute, webhooks: ReadonlyArray<Webhook>): string =>
  ACTIONS[action.type].words(action, webhooks)

const VERDICTS = {
  pass: "that passes DMARC",
  fail: "that fails DMARC",
  none: "without DMARC",
} as const

/** The conditions of a route in words. */
export const conditionsOf = ({ from, subject, to, verdict }: InboundRoute["match"]): string => {
  const parts = [
    ...(to === null ? [] : [`to ${to}`]),
    ...(from === null ? [] : [`from ${from}`]),
    ...(subject === null ? [] : [`with “${subject}” in the subject`]),
    ...(verdict === null ? [] : [VERDICTS[verdict]]),
  ]
  return parts.length === 0 ? "Every mail" : `Mail ${parts.join(", ")}`
}
