import { notifyManager, useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import type { Domain } from "../api/records.ts"
import { patch } from "../api/request.ts"
import { ErrorNote } from "../ui/ErrorNote.tsx"
import { Check } from "../ui/Field.tsx"
import { Panel } from "../ui/Surface.tsx"

type Change = Partial<Pick<Domain, "open_tracking" | "click_tracking">>

/** Whether a domain's mail tells of its readers. */
export const Tracking = ({
  domain,
  may,
  onChanged,
}: {
  readonly domain: Domain
  readonly may: boolean
  readonly onChanged: (next: Domain) => void
}) => {
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
      </div>
    </Panel>
  )
}
