import { useMutation } from "@tanstack/react-query"
import { useEffect, useState } from "react"
import type { Domain } from "../api/records.ts"
import { patch } from "../api/request.ts"
import { ErrorNote } from "../ui/ErrorNote.tsx"
import { Check } from "../ui/Field.tsx"
import { Panel } from "../ui/Surface.tsx"

type Changes = Partial<Pick<Domain, "open_tracking" | "click_tracking">>

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
  const [ahead, setAhead] = useState<Changes>({})
  const change = useMutation({
    mutationFn: (body: Changes) => patch<Domain>(`/domains/${encodeURIComponent(domain.name)}`, body),
    onSuccess: onChanged,
    onError: () => setAhead({}),
  })
  // What came from the service shows it, or something newer.
  useEffect(() => setAhead({}), [domain])
  // Shown as it will be, in the same breath: a switch that waits for its answer seems to be stuck, and a mutation is
  // told of behind the event, in which the browser takes back what nobody has kept.
  const shown = { ...domain, ...(change.isPending ? change.variables : {}), ...ahead }
  const set = (changes: Changes) => {
    setAhead(changes)
    change.mutate(changes)
  }
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
