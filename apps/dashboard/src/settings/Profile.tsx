import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import * as Auth from "../api/Auth.ts"
import { useSession } from "../session/useSession.ts"
import { Button } from "../ui/controls/Button.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { TextField, useForm } from "../ui/controls/Field.tsx"
import { Panel, Screen } from "../ui/layout/Screen.tsx"
import { showError, showToast } from "../ui/feedback/Toasts.tsx"
import { TwoFactor } from "./TwoFactor.tsx"
import { Passkeys } from "./Passkeys.tsx"
import { Laptop } from "lucide-react"
import { Badge } from "../ui/display/Badge.tsx"
import { RelativeTime } from "../ui/display/Time.tsx"

export const Profile = () => (
  <Screen title="Profile" hint="Your name and sign-in methods. They apply to all your accounts.">
    <NameForm />
    <PasswordForm />
    <TwoFactor />
    <Passkeys />
    <Sessions />
  </Screen>
)

const FORM = "flex flex-wrap items-end gap-3 p-4"
const FIELD = "grow basis-60 max-sm:basis-full"
const BUTTON = "h-9 max-sm:basis-full"

const NameForm = () => {
  const { user } = useSession()
  const client = useQueryClient()
  const form = useForm({
    initial: { name: user.name },
    send: ({ name }) => Auth.rename(name.trim()),
    onSent: () => {
      void client.invalidateQueries({ queryKey: ["session"] })
      showToast("Name saved.")
    },
  })
  const isSame = form.values.name.trim() === user.name
  return (
    <Panel title="Name and email">
      <form className={FORM} onSubmit={form.onSubmit}>
        <TextField className={FIELD} label="Name" {...form.input("name")} />
        <TextField className={FIELD} label="Email" value={user.email} disabled readOnly />
        <Button type="submit" className={BUTTON} busy={form.isPending} disabled={isSame}>
          Save
        </Button>
        <ErrorMessage error={form.error} />
      </form>
    </Panel>
  )
}

const MIN_CHARS = 12

const PasswordForm = () => {
  const form = useForm({
    initial: { current: "", next: "" },
    send: ({ current, next }) => Auth.changePassword(current, next),
    onSent: () => {
      form.set({ current: "", next: "" })
      showToast("Password changed. You are signed out on all other devices.")
    },
  })
  const isIncomplete = form.values.current === "" || form.values.next.length < MIN_CHARS
  return (
    <Panel title="Password">
      <form className={FORM} onSubmit={form.onSubmit}>
        <TextField
          className={FIELD}
          label="Current password"
          type="password"
          autoComplete="current-password"
          {...form.input("current")}
        />
        <TextField
          className={FIELD}
          label={`New password (at least ${MIN_CHARS} characters)`}
          type="password"
          autoComplete="new-password"
          {...form.input("next")}
        />
        <Button type="submit" className={BUTTON} busy={form.isPending} disabled={isIncomplete}>
          Change password
        </Button>
        <ErrorMessage error={form.error} className="basis-full" />
      </form>
    </Panel>
  )
}

const deviceOf = (agent: string | null): string => {
  const browser = /(?:Edg|Firefox|Chrome|Safari)/u.exec(agent ?? "")?.[0] ?? "Unknown client"
  const system = /(?:Windows|Mac OS X|Android|iPhone|iPad|Linux)/u.exec(agent ?? "")?.[0]
  return `${browser === "Edg" ? "Edge" : browser}${system === undefined ? "" : ` on ${system.replace("Mac OS X", "macOS")}`}`
}

const Sessions = () => {
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
