import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { Laptop } from "lucide-react"
import * as Auth from "../api/Auth.ts"
import { Badge } from "../ui/display/Badge.tsx"
import { Button } from "../ui/controls/Button.tsx"
import { Panel } from "../ui/layout/Panel.tsx"
import { RelativeTime } from "../ui/display/Time.tsx"
import { showError } from "../ui/feedback/Toasts.tsx"

const deviceOf = (agent: string | null): string => {
  const browser = /(?:Edg|Firefox|Chrome|Safari)/u.exec(agent ?? "")?.[0] ?? "Unknown client"
  const system = /(?:Windows|Mac OS X|Android|iPhone|iPad|Linux)/u.exec(agent ?? "")?.[0]
  return `${browser === "Edg" ? "Edge" : browser}${system === undefined ? "" : ` on ${system.replace("Mac OS X", "macOS")}`}`
}

export const Sessions = () => {
  const client = useQueryClient()
  const { data } = useQuery({ queryKey: ["sessions"], queryFn: Auth.sessions })
  const { data: current } = useQuery({ queryKey: ["own-session"], queryFn: Auth.current })
  const end = useMutation({
    mutationFn: Auth.endSession,
    onSuccess: () => client.invalidateQueries({ queryKey: ["sessions"] }),
    onError: showError,
  })
  return (
    <Panel title="Active sessions">
      <ul className="divide-y divide-line">
        {(data ?? []).map((session) => (
          <li key={session.id} className="flex items-center gap-3 px-4 py-2.5 text-sm">
            <Laptop size={16} className="shrink-0 text-ink-3" aria-hidden />
            <span className="min-w-0 grow">
              <span className="flex items-center gap-2">
                <span className="truncate">{deviceOf(session.userAgent)}</span>
                {current?.device.id === session.id ? <Badge tone="good">This device</Badge> : undefined}
              </span>
              <span className="block truncate text-xs text-ink-3">
                {session.ipAddress} · signed in <RelativeTime iso={session.createdAt} />
              </span>
            </span>
            {current?.device.id === session.id ? undefined : (
              <Button small onClick={() => end.mutate(session.token)}>
                Sign out
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  )
}
