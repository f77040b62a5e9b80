import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import type { Webhook, WebhookWithSecret } from "../api/Records.ts"
import * as Api from "../api/Api.ts"
import { formErrors } from "../api/ApiError.ts"
import { DialogForm } from "../ui/feedback/DialogForm.tsx"
import { Checkbox, TextField } from "../ui/controls/Field.tsx"

/** Event types, grouped by subject. */
const EVENT_GROUPS: ReadonlyArray<readonly [name: string, types: ReadonlyArray<string>]> = [
  [
    "Emails",
    [
      "email.queued",
      "email.sent",
      "email.delivered",
      "email.delivery_delayed",
      "email.bounced",
      "email.complained",
      "email.failed",
      "email.suppressed",
      "email.canceled",
      "email.opened",
      "email.clicked",
    ],
  ],
  ["Domains", ["domain.created", "domain.verified", "domain.degraded", "domain.failed", "domain.deleted"]],
  ["Other", ["suppression.added", "suppression.removed", "api_key.created", "api_key.revoked", "webhook.disabled"]],
]

interface Props {
  readonly webhook?: Webhook
  readonly onCancel: () => void
  readonly onCreated?: (webhook: WebhookWithSecret) => void
  readonly onChanged?: (webhook: Webhook) => void
}

export const WebhookForm = ({ onCancel, onChanged, onCreated, webhook }: Props) => {
  const client = useQueryClient()
  const [url, setUrl] = useState(webhook?.url ?? "")
  const [description, setDescription] = useState(webhook?.description ?? "")
  const [events, setEvents] = useState<ReadonlyArray<string>>(webhook?.events ?? ["*"])
  const all = events.includes("*")
  const save = useMutation({
    mutationFn: async () => {
      const body = { url: url.trim(), events, description: description.trim() === "" ? null : description.trim() }
      if (webhook === undefined) onCreated?.(await Api.post<WebhookWithSecret>("/webhooks", body))
      else onChanged?.(await Api.patch<Webhook>(`/webhooks/${webhook.id}`, body))
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ["webhooks"], exact: true }),
  })
  const errors = formErrors(save.error, ["url", "description", "events"])
  const toggle = (type: string) =>
    setEvents(
      events.includes(type) ? events.filter((each) => each !== type) : [...events.filter((each) => each !== "*"), type],
    )
  return (
    <DialogForm
      submit={webhook === undefined ? "Create" : "Save changes"}
      busy={save.isPending}
      error={errors.form}
      onCancel={onCancel}
      onSubmit={() => save.mutate()}
    >
      <TextField
        label="URL"
        type="url"
        autoFocus
        required
        placeholder="https://example.com/hooks/mail"
        value={url}
        onChange={(event) => setUrl(event.target.value)}
        error={errors.field.url}
      />
      <TextField
        label="Description"
        hint="Optional description."
        value={description}
        onChange={(event) => setDescription(event.target.value)}
        error={errors.field.description}
      />
      <fieldset>
        <legend className="mb-2 text-sm font-medium">Events</legend>
        <Checkbox
          label="All events, including future ones"
          checked={all}
          onChange={() => setEvents(all ? ["email.delivered", "email.bounced"] : ["*"])}
        />
        {all ? undefined : (
          <div className="mt-3 flex flex-col gap-3 border-t border-line pt-3">
            {EVENT_GROUPS.map(([name, types]) => (
              <div key={name}>
                <p className="mb-1.5 text-xs font-medium text-ink-3">{name}</p>
                <div className="grid gap-1.5 sm:grid-cols-2">
                  {types.map((type) => (
                    <Checkbox
                      key={type}
                      label={<code className="font-mono text-xs">{type}</code>}
                      checked={events.includes(type)}
                      onChange={() => toggle(type)}
                    />
                  ))}
                </div>
              </div>
            ))}
          </div>
        )}
        {errors.field.events === undefined ? undefined : (
          <p className="mt-1.5 text-xs text-bad">{errors.field.events}</p>
        )}
      </fieldset>
    </DialogForm>
  )
}
