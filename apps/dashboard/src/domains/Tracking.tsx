import { notifyManager, useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import type { Domain } from "../api/Records.ts"
import { instance } from "../api/instance.ts"
import { patch } from "../api/Api.ts"
import { Button } from "../ui/controls/Button.tsx"
import { ErrorNote } from "../ui/feedback/ErrorMessage.tsx"
import { Check, TextField } from "../ui/controls/Field.tsx"
import { Panel } from "../ui/layout/Screen.tsx"
import { say } from "../ui/feedback/Toasts.tsx"

type Change = Partial<Pick<Domain, "open_tracking" | "click_tracking">>

interface Props {
  readonly domain: Domain
  readonly may: boolean
  readonly onChanged: (next: Domain) => void
}

/** Whether a domain's mail tells of its readers. */
export const Tracking = ({ domain, may, onChanged }: Props) => {
  const client = useQueryClient()
  const [wished, setWished] = useState<Change>({})
  const mutationKey = ["domains", domain.name, "tracking"]
  const change = useMutation({
    mutationKey,
    // One after the other: of two answers that pass each other on their way, the older would be shown.
    scope: { id: mutationKey.join(" ") },
    mutationFn: (body: Change) => patch<Domain>(`/domains/${encodeURIComponent(domain.name)}`, body),
    onSuccess: onChanged,
    // Once the last answer is on the screen.
    onSettled: () =>
      notifyManager.schedule(() => {
        if (client.isMutating({ mutationKey }) === 0) setWished({})
      }),
  })
  const set = (next: Change) => {
    setWished((before) => ({ ...before, ...next }))
    change.mutate(next)
  }
  // Shown as it will be: a switch that waits for its answer seems to be stuck.
  const shown = { ...domain, ...wished }
  return (
    <Panel title="Tracking">
      <div className="flex flex-col gap-3 p-4">
        <p className="text-sm text-ink-2">
          Tells who has read what, and when: personal data, for which you may need your readers’ consent. It is kept in
          the log with their address on the network and the name of their mail program.
        </p>
        <Check
          role="switch"
          label="Opens"
          hint="By a picture of one point. Many programs fetch it unasked, or never."
          checked={shown.open_tracking}
          disabled={!may}
          onChange={(event) => set({ open_tracking: event.target.checked })}
        />
        <Check
          role="switch"
          label="Clicks"
          hint="Links in the HTML lead over this service, and on to where you wrote."
          checked={shown.click_tracking}
          disabled={!may}
          onChange={(event) => set({ click_tracking: event.target.checked })}
        />
        {change.error === null ? undefined : <ErrorNote error={change.error} />}
        {instance.trackingDomains || domain.tracking_domain !== null ? (
          <OwnName domain={domain} may={may} onChanged={onChanged} />
        ) : undefined}
      </div>
    </Panel>
  )
}

/** A name below the domain that links lead over; empty, it is the service's own. */
const OwnName = ({ domain, may, onChanged }: Props) => {
  const [name, setName] = useState(domain.tracking_domain ?? "")
  const put = useMutation({
    mutationFn: (tracking_domain: string | null) =>
      patch<Domain>(`/domains/${encodeURIComponent(domain.name)}`, { tracking_domain }),
    onSuccess: (next) => {
      setName(next.tracking_domain ?? "")
      onChanged(next)
      say(
        next.tracking_domain === null
          ? "Links lead over this service’s name."
          : "Publish its record, and links follow.",
      )
    },
  })
  const wished = name.trim() === "" ? null : name.trim()
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        put.mutate(wished)
      }}
    >
      <div className="flex items-end gap-2">
        <TextField
          className="min-w-0 grow sm:max-w-sm"
          label="Name for links"
          placeholder={`links.${domain.name}`}
          disabled={!may}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <Button type="submit" busy={put.isPending} disabled={!may || wished === domain.tracking_domain}>
          Save
        </Button>
      </div>
      <p className="text-xs text-ink-3">
        Links lead over it while DNS shows its record. Keep the record for as long as your mail lies about.
      </p>
      {put.error === null ? undefined : <ErrorNote error={put.error} />}
    </form>
  )
}
