import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import * as Api from "../api/Api.ts"
import type { InboundRoute, Webhook } from "../api/Records.ts"
import { useFormErrors } from "../api/useFormErrors.ts"
import { Checkbox, SelectField, TextField } from "../ui/controls/Field.tsx"
import { DialogForm } from "../ui/feedback/DialogForm.tsx"
import { ACTION_TYPES, ACTIONS, type ActionType, draftOf } from "./RouteActions.tsx"
import * as RouteQueries from "./RouteQueries.ts"

interface Props {
  /** The route to change; a new one if it is left out. */
  readonly route?: InboundRoute | undefined
  readonly webhooks: ReadonlyArray<Webhook>
  readonly onDone: () => void
}

/** Conditions and action of a route. */
export const RouteForm = ({ onDone, route, webhooks }: Props) => {
  const client = useQueryClient()
  const [to, setTo] = useState(route?.match.to ?? "")
  const [from, setFrom] = useState(route?.match.from ?? "")
  const [subject, setSubject] = useState(route?.match.subject ?? "")
  const [verdict, setVerdict] = useState(route?.match.verdict ?? "")
  const [type, setType] = useState<ActionType>(route?.action.type ?? "webhook")
  const [draft, setDraft] = useState(draftOf(route?.action))
  const [stop, setStop] = useState(route?.stop ?? false)
  const kind = ACTIONS[type]
  const save = useMutation({
    mutationFn: () => {
      const body = {
        match: Object.fromEntries(
          Object.entries({ to: to.trim(), from: from.trim(), subject: subject.trim(), verdict }).filter(
            ([, value]) => value !== "",
          ),
        ),
        action: { type, ...kind.bodyOf(draft) },
        stop,
      }
      return route === undefined
        ? Api.post<InboundRoute>("/inbound/routes", body)
        : Api.patch<InboundRoute>(`/inbound/routes/${route.id}`, body)
    },
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: RouteQueries.list.queryKey })
      onDone()
    },
  })
  const fields = {
    "match.to": to,
    "match.from": from,
    "match.subject": subject,
    ...Object.fromEntries(Object.entries(draft).map(([name, value]) => [`action.${name}`, value])),
  }
  const errors = useFormErrors<string>(save.error, fields)
  const Fields = kind.Fields
  return (
    <DialogForm
      submit={route === undefined ? "Create" : "Save changes"}
      work={save}
      error={errors.form}
      onCancel={onDone}
    >
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
          value={to}
          onChange={(event) => setTo(event.target.value)}
          error={errors.field["match.to"]}
        />
        <TextField
          label="Sender"
          hint="In the same forms."
          autoCapitalize="none"
          spellCheck={false}
          value={from}
          onChange={(event) => setFrom(event.target.value)}
          error={errors.field["match.from"]}
        />
        <TextField
          label="Subject contains"
          value={subject}
          onChange={(event) => setSubject(event.target.value)}
          error={errors.field["match.subject"]}
        />
        <SelectField
          label="Sender check"
          hint="What DMARC says about the domain of the sender."
          value={verdict}
          onChange={(event) => setVerdict(event.target.value)}
        >
          <option value="">Any</option>
          <option value="pass">Passes DMARC</option>
          <option value="fail">Fails DMARC</option>
          <option value="none">Has no DMARC</option>
        </SelectField>
      </fieldset>
      <SelectField
        label="Action"
        hint={kind.hint}
        value={type}
        onChange={(event) => setType(event.target.value as ActionType)}
      >
        {ACTION_TYPES.map((each) => (
          <option key={each} value={each}>
            {ACTIONS[each].name}
          </option>
        ))}
      </SelectField>
      {Fields === undefined ? undefined : (
        <Fields
          draft={draft}
          webhooks={webhooks}
          onChange={(change) => setDraft((current) => ({ ...current, ...change }))}
          errorOf={(field) => errors.field[`action.${field}`]}
        />
      )}
      {kind.isLast ? undefined : (
        <Checkbox
          label="Stop here"
          hint="No later route is tried for a mail that this one applies to."
          checked={stop}
          onChange={(event) => setStop(event.target.checked)}
        />
      )}
    </DialogForm>
  )
}
