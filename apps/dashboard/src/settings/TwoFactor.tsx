import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import * as Auth from "../api/Auth.ts"
import { useSession } from "../session/useSession.ts"
import { Badge } from "../ui/display/Badge.tsx"
import { Button } from "../ui/controls/Button.tsx"
import { CodeBlock } from "../ui/controls/Code.tsx"
import { CopyField } from "../ui/controls/CopyButton.tsx"
import { Dialog, DialogForm } from "../ui/feedback/Dialog.tsx"
import { TextField, useForm } from "../ui/controls/Field.tsx"
import { showToast } from "../ui/feedback/Toasts.tsx"
import { Panel } from "../ui/layout/Screen.tsx"

interface Secrets {
  readonly totpURI: string
  readonly backupCodes: ReadonlyArray<string>
}

/** Setup of two-factor authentication with an authenticator app. */
export const TwoFactor = () => {
  const { user } = useSession()
  const isEnabled = user.twoFactorEnabled === true
  const [open, setOpen] = useState(false)
  const [secrets, setSecrets] = useState<Secrets>()
  const close = () => {
    setOpen(false)
    setSecrets(undefined)
  }
  return (
    <Panel title="Authenticator app" actions={isEnabled ? <Badge tone="good">On</Badge> : <Badge>Off</Badge>}>
      <div className="flex flex-wrap items-center gap-3 p-4">
        <p className="grow text-sm text-ink-2">
          {isEnabled
            ? "Sign-in requires a code from your authenticator app after the password."
            : "Require a code from an authenticator app after the password."}
        </p>
        <Button onClick={() => setOpen(true)}>{isEnabled ? "Turn off" : "Set up"}</Button>
      </div>
      <Dialog
        open={open}
        onClose={close}
        requiresClose={secrets !== undefined}
        title={isEnabled && secrets === undefined ? "Turn off the authenticator app" : "Set up an authenticator app"}
      >
        {secrets === undefined ? (
          <PasswordStep isEnabled={isEnabled} onCancel={close} onSecrets={setSecrets} />
        ) : (
          <CodeStep secrets={secrets} onDone={close} />
        )}
      </Dialog>
    </Panel>
  )
}

interface PasswordProps {
  readonly isEnabled: boolean
  readonly onSecrets: (secrets: Secrets) => void
  readonly onCancel: () => void
}

const PasswordStep = ({ isEnabled, onCancel, onSecrets }: PasswordProps) => {
  const client = useQueryClient()
  const form = useForm({
    initial: { password: "" },
    send: async ({ password }) => {
      if (!isEnabled) return onSecrets(await Auth.enableTotp(password))
      await Auth.disableTotp(password)
      await client.invalidateQueries({ queryKey: ["session"] })
      showToast("Authenticator app turned off.")
      return onCancel()
    },
  })
  return (
    <DialogForm submit="Continue" form={form} onCancel={onCancel}>
      <TextField
        label="Current password"
        type="password"
        autoFocus
        autoComplete="current-password"
        {...form.input("password")}
      />
    </DialogForm>
  )
}

const CodeStep = ({ onDone, secrets }: { readonly secrets: Secrets; readonly onDone: () => void }) => {
  const client = useQueryClient()
  const form = useForm({
    initial: { code: "" },
    send: ({ code }) => Auth.verifyTotp(code, false),
    onSent: async () => {
      await client.invalidateQueries({ queryKey: ["session"] })
      showToast("Authenticator app turned on.")
      onDone()
    },
  })
  const secret = new URL(secrets.totpURI).searchParams.get("secret") ?? ""
  return (
    <DialogForm submit="Turn on" form={form} onCancel={onDone}>
      <div>
        <p className="mb-1.5 text-sm">
          Enter this key in your authenticator app, or{" "}
          <a className="font-medium link" href={secrets.totpURI}>
            open the app
          </a>
          .
        </p>
        <CopyField text={secret} label="Copy setup key" />
      </div>
      <div>
        <p className="mb-1.5 text-sm">Save these backup codes. Each works once if you lose the authenticator app.</p>
        <CodeBlock label="Backup codes" code={secrets.backupCodes.join("\n")} />
      </div>
      <TextField
        label="Code from the app"
        inputMode="numeric"
        autoComplete="one-time-code"
        maxLength={6}
        {...form.input("code")}
      />
    </DialogForm>
  )
}
