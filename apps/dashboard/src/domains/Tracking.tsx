import { notifyManager, useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import type { Domain } from "../api/Records.ts"
import { instance } from "../api/instance.ts"
import * as Api from "../api/Api.ts"
import { Button } from "../ui/controls/Button.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { Checkbox, TextField, useForm } from "../ui/controls/Field.tsx"
import { showToast } from "../ui/feedback/Toasts.tsx"
import type { Props } from "./Receiving.tsx"
import { Panel } from "../ui/layout/Screen.tsx"

type Change = Partial<Pick<Domain, "open_tracking" | "click_tracking">>

/** Switches for open and click tracking of a domain. */
export const Tracking = ({ canEdit, domain, onChanged }: Props) => {
  const client = useQueryClient()
  const [pending, setPending] = useState<Change>({})
  const mutationKey = ["domains", domain.name, "tracking"]
  const change = useMutation({
    mutationKey,
    // Changes are sent one at a time: responses out of order would show an old value.
    scope: { id: mutationKey.join(" ") },
    mutationFn: (body: Change) => Api.patch<Domain>(`/domains/${encodeURIComponent(domain.name)}`, body),
    onSuccess: onChanged,
    // Pending changes are dropped after the last response is rendered.
    onSettled: () =>
      notifyManager.schedule(() => {
        if (client.isMutating({ mutationKey }) === 0) setPending({})
      }),
  })
  const set = (next: Change) => {
    setPending((before) => ({ ...before, ...next }))
    change.mutate(next)
  }
  // Changes show at once, before the server responds.
  const current = { ...domain, ...pending }
  return (
    <Panel title="Tracking">
      <div className="flex flex-col gap-3 p-4">
        <p className="text-sm text-ink-2">
          Records who opened or clicked, and when, with their IP address and mail client. This is personal data; you may
          need your recipients’ consent.
        </p>
        <Checkbox
          role="switch"
          label="Open tracking"
          hint="Uses a 1×1 tracking pixel. Many mail clients prefetch or block it."
          checked={current.open_tracking}
          disabled={!canEdit}
          onChange={(event) => set({ open_tracking: event.target.checked })}
        />
        <Checkbox
          role="switch"
          label="Click tracking"
          hint="Links redirect through Waybill to your original URL."
          checked={current.click_tracking}
          disabled={!canEdit}
          onChange={(event) => set({ click_tracking: event.target.checked })}
        />
        <ErrorMessage error={change.error} />
        {instance.trackingDomains || domain.tracking_domain !== null ? (
          <TrackingDomain domain={domain} canEdit={canEdit} onChanged={onChanged} />
        ) : undefined}
      </div>
    </Panel>
  )
}

/** Form for the domain of tracked links. An empty value uses the domain of this installation. */
const TrackingDomain = ({ canEdit, domain, onChanged }: Props) => {
  const form = useForm({
    initial: { tracking_domain: domain.tracking_domain ?? "" },
    send: (values) => Api.patch<Domain>(`/domains/${encodeURIComponent(domain.name)}`, bodyOf(values)),
    onSent: (next) => {
      form.set({ tracking_domain: next.tracking_domain ?? "" })
      onChanged(next)
      showToast(
        next.tracking_domain === null
          ? "Tracked links use the default domain."
          : "Tracking domain saved. Publish its DNS record to activate it.",
      )
    },
  })
  return (
    <form className="flex flex-col gap-3" onSubmit={form.onSubmit}>
      <div className="flex items-end gap-2">
        <TextField
          className="min-w-0 grow sm:max-w-sm"
          label="Tracking domain"
          placeholder={`links.${domain.name}`}
          disabled={!canEdit}
          {...form.input("tracking_domain")}
        />
        <Button
          type="submit"
          busy={form.isPending}
          disabled={!canEdit || bodyOf(form.values).tracking_domain === domain.tracking_domain}
        >
          Save
        </Button>
      </div>
      <p className="text-xs text-ink-3">
        Used in tracked links while its DNS record is verified. Keep the record as long as sent mail may be opened.
      </p>
      <ErrorMessage error={form.error} />
    </form>
  )
}

const bodyOf = ({ tracking_domain }: { readonly tracking_domain: string }) => ({
  tracking_domain: tracking_domain.trim() || null,
})
