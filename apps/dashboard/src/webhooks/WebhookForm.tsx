import { useQueryClient } from "@tanstack/react-query"
import type { WebhookType } from "@waybill/domain/webhook/WebhookType"
import type { Webhook, WebhookWithSecret } from "../api/Records.ts"
import * as Api from "../api/Api.ts"
import { eventName } from "../ui/display/eventName.ts"
import * as WebhookFormats from "./WebhookFormats.ts"
import { Checkbox, SelectField, TextField, useForm } from "../ui/controls/Field.tsx"
import { type Preset, Presets } from "../ui/controls/Presets.tsx"
import { DialogForm } from "../ui/feedback/Dialog.tsx"

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
  const form = useForm({
    initial: {
      url: webhook?.url ?? "",
      description: webhook?.description ?? "",
      events: webhook?.events ?? (["*"] as ReadonlyArray<string>),
      format: webhook?.format ?? "waybill",
      svix_headers: webhook?.svix_headers ?? false,
      include_raw: webhook?.include_raw ?? false,
    },
    send: async ({ description, include_raw, url, ...others }) => {
      const body = {
        ...others,
        url: url.trim(),
        description: description.trim() === "" ? null : description.trim(),
        ...(hasRaw ? { include_raw } : {}),
      }
      if (webhook === undefined) onCreated?.(await Api.post<WebhookWithSecret>("/webhooks", body))
      else onChanged?.(await Api.patch<Webhook>(`/webhooks/${webhook.id}`, body))
    },
    onSent: () => client.invalidateQueries({ queryKey: ["webhooks"], exact: true }),
  })
  const { events, format, url } = form.values
  const hasRaw = format === "postmark" || format === "sendgrid"
  const chooseFormat = (next: Webhook["format"]) => {
    const kept = events.filter((type) => WebhookFormats.has(next, type))
    form.set({
      format: next,
      events: kept.length === 0 ? ["*"] : kept,
      ...(next === "resend" && { svix_headers: true }),
    })
  }
  return (
    <DialogForm submit={webhook === undefined ? "Create" : "Save changes"} form={form} onCancel={onCancel}>
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
        {...form.input("url")}
      />
      <TextField label="Description" hint="Optional. Other screens name it so." {...form.input("description")} />
      <SelectField
        label="Format"
        hint="The payload of the requests. Choose another service for an endpoint that was written for it."
        options={WebhookFormats.NAMES}
        {...form.input("format")}
        onChange={(event) => chooseFormat(event.target.value as Webhook["format"])}
      />
      <Checkbox
        label="Also send the signature in svix headers"
        hint="For endpoints that verify svix-id, svix-timestamp and svix-signature."
        {...form.check("svix_headers")}
      />
      {hasRaw ? (
        <Checkbox
          label="Include received mail as it came"
          hint="For endpoints that read the whole mail, such as Rails Action Mailbox."
          {...form.check("include_raw")}
        />
      ) : undefined}
      <Presets
        label="Events"
        presets={presetsOf(format)}
        groups={eventGroups(format)}
        selected={events}
        onSelect={(next) => form.set({ events: next })}
        error={form.errorOf("events")}
      />
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
    const types = Object.keys(GROUP_OF).filter(
      (type) => GROUP_OF[type as WebhookType] === name && WebhookFormats.has(format, type),
    )
    const codeOf = (type: string) => <code className="font-mono">{type}</code>
    return [name, types.map((type) => [type, eventName(type), codeOf(type)] as const)] as const
  }).filter(([, types]) => types.length > 0)
