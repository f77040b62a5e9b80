import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import * as Api from "../api/Api.ts"
import type { InboundRoute, Webhook } from "../api/Records.ts"
import { Checkbox, SelectField, TextField, useForm } from "../ui/controls/Field.tsx"
import { ACTIONS, type ActionType, draftOf } from "./RouteActions.tsx"
import * as RouteQueries from "./RouteQueries.ts"
import { DialogForm } from "../ui/feedback/Dialog.tsx"

const VERDICTS = [
  ["", "Any"],
  ["pass", "Passes DMARC"],
  ["fail", "Fails DMARC"],
  ["none", "Has no DMARC"],
] as const

interface Props {
  /** The route to change; a new one if it is left out. */
  readonly route?: InboundRoute | undefined
  readonly webhooks: ReadonlyArray<Webhook>
  readonly onDone: () => void
}

/** Conditions and action of a route. */
export const RouteForm = ({ onDone, route, webhooks }: Props) => {
  const client = useQueryClient()
  const [type, setType] = useState<ActionType>(route?.action.type ?? "webhook")
  const kind = ACTIONS[type]
  const form = useForm({
    initial: {
      "match.to": route?.match.to ?? "",
      "match.from": route?.match.from ?? "",
      "match.subject": route?.match.subject ?? "",
      "match.verdict": route?.match.verdict ?? "",
      ...draftOf(route?.action),
      stop: route?.stop ?? false,
    },
    send: ({ stop, ...values }) => {
      const match = (["to", "from", "subject", "verdict"] as const).map((name) => [
        name,
        values[`match.${name}`].trim(),
      ])
      const body = {
        match: Object.fromEntries(match.filter(([, value]) => value !== "")),
        action: { type, ...kind.bodyOf(values) },
        stop,
      }
      return route === undefined
        ? Api.post<InboundRoute>("/inbound/routes", body)
        : Api.patch<InboundRoute>(`/inbound/routes/${route.id}`, body)
    },
    onSent: async () => {
      await client.invalidateQueries({ queryKey: RouteQueries.list.queryKey })
      onDone()
    },
  })
  const Fields = kind.Fields
  return (
    <DialogForm submit={route === undefined ? "Create" : "Save changes"} form={form} onCancel={onDone}>
      <fieldset className="flex flex-col gap-3">
        <legend className="mb-1 text-sm text-ink-2">
          For mail that meets all of these. Empty fields are not compared.
        </legend>
        <TextField
          label="Recipient"
          hint="An address, *@acme.com for a whole domain, or support+*@acme.com for any text after the plus sign."
          autoFocus
          autoCapitalize="none"
          spellCheck={false}
          {...form.input("match.to")}
        />
        <TextField
          label="Sender"
          hint="In the same forms."
          autoCapitalize="none"
          spellCheck={false}
          {...form.input("match.from")}
        />
        <TextField label="Subject contains" {...form.input("match.subject")} />
        <SelectField
          label="Sender check"
          hint="What DMARC says about the domain of the sender."
          options={VERDICTS}
          {...form.input("match.verdict")}
        />
      </fieldset>
      <SelectField
        label="Action"
        hint={kind.hint}
        value={type}
        onChange={(event) => setType(event.target.value as ActionType)}
        options={Object.entries(ACTIONS).map(([each, { name }]) => [each, name])}
      />
      {Fields === undefined ? undefined : <Fields form={form} webhooks={webhooks} />}
      {kind.isLast ? undefined : (
        <Checkbox
          label="Stop here"
          hint="No later route is tried for a mail that this one applies to."
          {...form.check("stop")}
        />
      )}
    </DialogForm>
  )
}
