import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import * as Auth from "../api/Auth.ts"
import { useSession } from "../session/useSession.ts"
import { Button } from "../ui/controls/Button.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { TextField } from "../ui/controls/Field.tsx"
import { Panel } from "../ui/layout/Panel.tsx"
import { Screen } from "../ui/layout/Screen.tsx"
import { showToast } from "../ui/feedback/Toasts.tsx"
import { TwoFactor } from "./TwoFactor.tsx"
import { Passkeys } from "./Passkeys.tsx"
import { Sessions } from "./Sessions.tsx"

export const Profile = () => (
  <Screen title="Profile" hint="Your name and sign-in methods. They apply to all your accounts.">
    <NameForm />
    <PasswordForm />
    <TwoFactor />
    <Passkeys />
    <Sessions />
  </Screen>
)

const NameForm = () => {
  const { user } = useSession()
  const client = useQueryClient()
  const [name, setName] = useState(user.name)
  const rename = useMutation({
    mutationFn: () => Auth.rename(name.trim()),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ["session"] })
      showToast("Name saved.")
    },
  })
  return (
    <Panel title="Name and email">
      <form
        className="flex flex-wrap items-end gap-3 p-4"
        onSubmit={(event) => {
          event.preventDefault()
          rename.mutate()
        }}
      >
        <TextField
          className="grow basis-60 max-sm:basis-full"
          label="Name"
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <TextField className="grow basis-60 max-sm:basis-full" label="Email" value={user.email} disabled readOnly />
        <Button
          type="submit"
          className="h-9 max-sm:basis-full"
          busy={rename.isPending}
          disabled={name.trim() === user.name}
        >
          Save
        </Button>
        {rename.error === null ? undefined : <ErrorMessage error={rename.error} />}
      </form>
    </Panel>
  )
}

const PasswordForm = () => {
  const [current, setCurrent] = useState("")
  const [next, setNext] = useState("")
  const change = useMutation({
    mutationFn: () => Auth.changePassword(current, next),
    onSuccess: () => {
      setCurrent("")
      setNext("")
      showToast("Password changed. You are signed out on all other devices.")
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
          className="grow basis-60 max-sm:basis-full"
          label="Current password"
          type="password"
          autoComplete="current-password"
          value={current}
          onChange={(event) => setCurrent(event.target.value)}
        />
        <TextField
          className="grow basis-60 max-sm:basis-full"
          label="New password (at least 12 characters)"
          type="password"
          autoComplete="new-password"
          value={next}
          onChange={(event) => setNext(event.target.value)}
        />
        <Button
          type="submit"
          className="h-9 max-sm:basis-full"
          busy={change.isPending}
          disabled={current === "" || next.length < 12}
        >
          Change password
        </Button>
        {change.error === null ? undefined : (
          <div className="basis-full">
            <ErrorMessage error={change.error} />
          </div>
        )}
      </form>
    </Panel>
  )
}
