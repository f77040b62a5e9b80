import { useMutation, useQueryClient } from "@tanstack/react-query"
import type { WebhookType } from "@waybill/domain/webhook/WebhookType"
import { useState } from "react"
import type { Webhook, WebhookWithSecret } from "../api/Records.ts"
import * as Api from "../api/Api.ts"
import { useFormErrors } from "../api/useFormErrors.ts"
import { DialogForm } from "../ui/feedback/DialogForm.tsx"
import { eventName } from "../ui/display/eventName.ts"
import * as WebhookFormats from "./WebhookFormats.ts"
import { Checkbox, SelectField, TextField } from "../ui/controls/Field.tsx"
import { type Preset, Presets } from "../ui/controls/Presets.tsx"

const GROUPS = ["Emails", "Received mail", "Domains", "Other"] as const

/** Event types with the group in which they stand; the compiler misses one that is not here. */
const GROUP_OF: Readonly<Record<WebhookType, (typeof GROUPS)[number]>> = {
  "email.queued": "Emails",
  "email.sent": "Emails",
  "email.delivered": "Emails",
  "email.delivery_delayed": "Emails",
  "email.bounced": "Emails",
  "email.complained": "Emails",
  "email.failed": "Emails",
  "email.suppressed": "Emails",
  "email.canceled": "Emails",
  "email.opened": "Emails",
  "email.clicked": "Emails",
  "email.received": "Received mail",
  "domain.created": "Domains",
  "domain.verified": "Domains",
  "domain.degraded": "Domains",
  "domain.failed": "Domains",
  "domain.deleted": "Domains",
  "suppression.added": "Other",
  "suppression.removed": "Other",
  "api_key.created": "Other",
  "api_key.revoked": "Other",
  "webhook.disabled": "Other",
}

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
  const [format, setFormat] = useState(webhook?.format ?? "waybill")
  const [svixHeaders, setSvixHeaders] = useState(webhook?.svix_headers ?? false)
  const [includesRaw, setIncludesRaw] = useState(webhook?.include_raw ?? false)
  const hasRaw = format === "postmark" || format === "sendgrid"
  const chooseFormat = (next: Webhook["format"]) => {
    const kept = events.filter((type) => WebhookFormats.has(next, type))
    setFormat(next)
    setEvents(kept.length === 0 ? ["*"] : kept)
    if (next === "resend") setSvixHeaders(true)
  }
  const save = useMutation({
    mutationFn: async () => {
      const body = {
        url: url.trim(),
        events,
        description: description.trim() === "" ? null : description.trim(),
        format,
        svix_headers: svixHeaders,
        ...(hasRaw ? { include_raw: includesRaw } : {}),
      }
      if (webhook === undefined) onCreated?.(await Api.post<WebhookWithSecret>("/webhooks", body))
      else onChanged?.(await Api.patch<Webhook>(`/webhooks/${webhook.id}`, body))
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ["webhooks"], exact: true }),
  })
  const errors = useFormErrors(save.error, { url, description, format, events })
  const toggle = (type: string) =>
    setEvents(
      events.includes(type) ? events.filter((each) => each !== type) : [...events.filter((each) => each !== "*"), type],
    )
  return (
    <DialogForm
      submit={webhook === undefined ? "Create" : "Save changes"}
      work={save}
      error={errors.form}
      onCancel={onCancel}
    >
      <TextField
        label="URL"
        type="url"
        autoFocus
        required
        placeholder="https://example.com/hooks/mail"
        hint={
          url.trim().startsWith("http:")
            ? "Plain http is called only in networks that the operator allows. Use https for a public endpoint."
            : undefined
        }
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
      <SelectField
        label="Format"
        hint="The payload of the requests. Choose another service for an endpoint that was written for it."
        value={format}
        onChange={(event) => chooseFormat(event.target.value as Webhook["format"])}
        error={errors.field.format}
      >
        {WebhookFormats.NAMES.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </SelectField>
      <Checkbox
        label="Also send the signature in svix headers"
        hint="For endpoints that verify svix-id, svix-timestamp and svix-signature."
        checked={svixHeaders}
        onChange={(event) => setSvixHeaders(event.target.checked)}
      />
      {hasRaw ? (
        <Checkbox
          label="Include received mail as it came"
          hint="For endpoints that read the whole mail, such as Rails Action Mailbox."
          checked={includesRaw}
          onChange={(event) => setIncludesRaw(event.target.checked)}
        />
      ) : undefined}
      <Presets label="Events" presets={presetsOf(format)} selected={events} onSelect={setEvents}>
        <div className="flex flex-col gap-3">
          {eventGroups(format).map(([name, types]) => (
            <div key={name}>
              <p className="mb-1.5 text-xs font-medium text-ink-3">{name}</p>
              <div className="grid gap-1.5 sm:grid-cols-2">
                {types.map((type) => (
                  <Checkbox
                    key={type}
                    label={eventName(type)}
                    hint={<code className="font-mono">{type}</code>}
                    checked={events.includes(type)}
                    onChange={() => toggle(type)}
                  />
                ))}
              </div>
            </div>
          ))}
        </div>
      </Presets>
      {errors.field.events === undefined ? undefined : <p className="text-xs text-bad">{errors.field.events}</p>}
    </DialogForm>
  )
}

/** Events of mail that was not delivered. */
const PROBLEMS = ["email.delivery_delayed", "email.bounced", "email.failed", "email.suppressed", "email.complained"]

/** Usual choices of events of a format. All are those of later releases, too. */
const presetsOf = (format: Webhook["format"]): ReadonlyArray<Preset> => [
  ["All events", ["*"]],
  ["Problems", PROBLEMS.filter((type) => WebhookFormats.has(format, type))],
]

/** Returns the events of a format, without groups that would be empty. */
const eventGroups = (format: Webhook["format"]) =>
  GROUPS.map((name) => {
    const types = Object.entries(GROUP_OF).filter(([type, group]) => group === name && WebhookFormats.has(format, type))
    return [name, types.map(([type]) => type)] as const
  }).filter(([, types]) => types.length > 0)
