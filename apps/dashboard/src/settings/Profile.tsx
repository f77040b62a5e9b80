import { useQueryClient } from "@tanstack/react-query"
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
import { useForm } from "../ui/controls/useForm.ts"

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
