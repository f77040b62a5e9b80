import type { ReactNode } from "react"
import type { InboundRoute, Webhook } from "../api/Records.ts"
import { SelectField, TextField, type useForm } from "../ui/controls/Field.tsx"

export type ActionType = InboundRoute["action"]["type"]

/** Input of the form for all actions, so that a change of the action loses nothing. */
type ActionDraft = ReturnType<typeof draftOf>

interface FieldsProps {
  readonly form: Pick<ReturnType<typeof useForm<ActionDraft>>, "errorOf" | "input" | "values">
  readonly webhooks: ReadonlyArray<Webhook>
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
    bodyOf: ({ "action.webhook_id": webhook_id }) => (webhook_id === "" ? {} : { webhook_id }),
    Fields: ({ form, webhooks }) => {
      const chosen = form.values["action.webhook_id"]
      const isKnown = chosen === "" || webhooks.some(({ id }) => id === chosen)
      return (
        <SelectField
          label="Webhook"
          options={[
            ["", "All that subscribe to received mail"],
            ...(isKnown ? [] : [[chosen, `${chosen} (deleted)`] as const]),
            ...webhooks.map(({ id, url }) => [id, url] as const),
          ]}
          {...form.input("action.webhook_id")}
        />
      )
    },
  },
  forward: {
    name: "Forward",
    hint: "The mail is sent on as it came, sealed by ARC. Each address counts as an email of yours.",
    words: ({ to }) => `Forward to ${(to ?? []).join(", ")}`,
    isLast: false,
    bodyOf: (draft) => ({ to: addressesOf(draft["action.to"]) }),
    Fields: ({ form }) => (
      <TextField label="Addresses" hint="Up to 10. Separate with commas." required {...form.input("action.to")} />
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
    bodyOf: ({ "action.message": message }) => (message.trim() === "" ? {} : { message: message.trim() }),
    Fields: ({ form }) => (
      <TextField
        label="Message to the sender"
        hint="In English letters. Leave empty for “This address does not accept the message”."
        {...form.input("action.message")}
      />
    ),
  },
}

export const draftOf = (action: InboundRoute["action"] | undefined) => ({
  /** Empty for all webhooks that subscribe. */
  "action.webhook_id": action?.webhook_id ?? "",
  "action.message": action?.message ?? "",
  /** Addresses with commas between them. */
  "action.to": (action?.to ?? []).join(", "),
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
