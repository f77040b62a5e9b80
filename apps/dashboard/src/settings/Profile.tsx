import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { Fingerprint, Laptop, Trash2 } from "lucide-react"
import { useState } from "react"
import * as auth from "../api/Auth.ts"
import { instance } from "../api/instance.ts"
import { useSession } from "../shell/useSession.ts"
import { Badge } from "../ui/display/Badge.tsx"
import { Button, IconButton } from "../ui/controls/Button.tsx"
import { ErrorNote } from "../ui/feedback/ErrorMessage.tsx"
import { TextField } from "../ui/controls/Field.tsx"
import { Panel, Screen } from "../ui/layout/Screen.tsx"
import { Time } from "../ui/display/Time.tsx"
import { complain, say } from "../ui/feedback/Toasts.tsx"
import { SecondFactor } from "./TwoFactor.tsx"
import { Foreign } from "../ui/display/UntrustedText.tsx"

export const OwnSignIn = () => (
  <Screen title="Your sign-in" hint="For you alone, in every account.">
    <Name />
    <Password />
    <SecondFactor />
    <Passkeys />
    <Sessions />
  </Screen>
)

const Name = () => {
  const { user } = useSession()
  const client = useQueryClient()
  const [name, setName] = useState(user.name)
  const rename = useMutation({
    mutationFn: () => auth.rename(name.trim()),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ["session"] })
      say("Your name is changed.")
    },
  })
  return (
    <Panel title="You">
      <form
        className="flex flex-wrap items-end gap-3 p-4"
        onSubmit={(event) => {
          event.preventDefault()
          rename.mutate()
        }}
      >
        <TextField
          className="grow basis-60"
          label="Name"
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <TextField className="grow basis-60" label="Email" value={user.email} disabled readOnly />
        <Button type="submit" className="h-9" busy={rename.isPending} disabled={name.trim() === user.name}>
          Save
        </Button>
        {rename.error === null ? undefined : <ErrorNote error={rename.error} />}
      </form>
    </Panel>
  )
}

const Password = () => {
  const [before, setBefore] = useState("")
  const [next, setNext] = useState("")
  const change = useMutation({
    mutationFn: () => auth.changePassword(before, next),
    onSuccess: () => {
      setBefore("")
      setNext("")
      say("Your password is changed. Everywhere else you are signed out.")
    },
  })
  return (
    <Panel title="Password">
      <form
        className="flex flex-wrap items-end gap-3 p-4"
        onSubmit={(event) => {
          event.preventDefault()
          change.mutate()
        }}
      >
        <TextField
          className="grow basis-60"
          label="Now"
          type="password"
          autoComplete="current-password"
          value={before}
          onChange={(event) => setBefore(event.target.value)}
        />
        <TextField
          className="grow basis-60"
          label="New, at least 12 characters"
          type="password"
          autoComplete="new-password"
          value={next}
          onChange={(event) => setNext(event.target.value)}
        />
        <Button type="submit" className="h-9" busy={change.isPending} disabled={before === "" || next.length < 12}>
          Change
        </Button>
        {change.error === null ? undefined : (
          <div className="basis-full">
            <ErrorNote error={change.error} />
          </div>
        )}
      </form>
    </Panel>
  )
}

const Passkeys = () => {
  const client = useQueryClient()
  const { data } = useQuery({ queryKey: ["passkeys"], queryFn: auth.passkeys })
  const [name, setName] = useState("")
  const refresh = () => client.invalidateQueries({ queryKey: ["passkeys"] })
  const add = useMutation({
    mutationFn: () => auth.addPasskey(name.trim() === "" ? "Passkey" : name.trim()),
    onSuccess: () => {
      setName("")
      void refresh()
      say("From now on this passkey signs you in.")
    },
  })
  const drop = useMutation({ mutationFn: auth.removePasskey, onSuccess: refresh, onError: complain })
  const isHere = window.location.hostname === instance.passkeyDomain
  const there = new URL(window.location.href)
  there.hostname = instance.passkeyDomain
  return (
    <Panel title="Passkeys">
      {data === undefined || data.length === 0 ? undefined : (
        <ul className="divide-y divide-line border-b border-line">
          {data.map((passkey) => (
            <li key={passkey.id} className="flex items-center gap-3 px-4 py-2.5 text-sm">
              <Fingerprint size={16} className="text-ink-3" aria-hidden />
              <span className="grow truncate">
                <Foreign text={passkey.name ?? "Passkey"} />
              </span>
              <span className="text-xs text-ink-3">
                {passkey.createdAt === null ? undefined : <Time iso={passkey.createdAt} />}
              </span>
              <IconButton label={`Remove ${passkey.name ?? "the passkey"}`} onClick={() => drop.mutate(passkey.id)}>
                <Trash2 size={15} />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
      {isHere ? (
        <form
          className="flex flex-wrap items-end gap-3 p-4"
          onSubmit={(event) => {
            event.preventDefault()
            add.mutate()
          }}
        >
          <TextField
            className="grow basis-60"
            label="Name of the device"
            placeholder="Laptop"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          <Button type="submit" className="h-9" icon={<Fingerprint size={15} />} busy={add.isPending}>
            Add a passkey
          </Button>
          {add.error === null ? undefined : (
            <div className="basis-full">
              <ErrorNote error={add.error} />
            </div>
          )}
        </form>
      ) : (
        <p className="p-4 text-sm text-ink-2">
          A passkey belongs to a name, and this page was opened by an address. Open it as{" "}
          <a className="font-medium text-accent hover:underline" href={there.href}>
            {there.host}
          </a>{" "}
          to add one.
        </p>
      )}
    </Panel>
  )
}

const deviceOf = (agent: string | null): string => {
  const browser = /(?:Edg|Firefox|Chrome|Safari)/u.exec(agent ?? "")?.[0] ?? "A program"
  const system = /(?:Windows|Mac OS X|Android|iPhone|iPad|Linux)/u.exec(agent ?? "")?.[0]
  return `${browser === "Edg" ? "Edge" : browser}${system === undefined ? "" : ` on ${system.replace("Mac OS X", "macOS")}`}`
}

const Sessions = () => {
  const client = useQueryClient()
  const { data } = useQuery({ queryKey: ["sessions"], queryFn: auth.sessions })
  const { data: here } = useQuery({ queryKey: ["own-session"], queryFn: auth.current })
  const end = useMutation({
    mutationFn: auth.endSession,
    onSuccess: () => client.invalidateQueries({ queryKey: ["sessions"] }),
    onError: complain,
  })
  return (
    <Panel title="Where you are signed in">
      <ul className="divide-y divide-line">
        {(data ?? []).map((session) => (
          <li key={session.id} className="flex items-center gap-3 px-4 py-2.5 text-sm">
            <Laptop size={16} className="shrink-0 text-ink-3" aria-hidden />
            <span className="min-w-0 grow">
              <span className="flex items-center gap-2">
                <span className="truncate">{deviceOf(session.userAgent)}</span>
                {here?.session.id === session.id ? <Badge tone="good">This one</Badge> : undefined}
              </span>
              <span className="block truncate text-xs text-ink-3">
                {session.ipAddress} · since <Time iso={session.createdAt} />
              </span>
            </span>
            {here?.session.id === session.id ? undefined : (
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
