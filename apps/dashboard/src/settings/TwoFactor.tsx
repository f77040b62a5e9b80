import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import * as Auth from "../api/Auth.ts"
import { useSession } from "../session/useSession.ts"
import { Badge } from "../ui/display/Badge.tsx"
import { Button } from "../ui/controls/Button.tsx"
import { CodeBlock } from "../ui/controls/Code.tsx"
import { CopyField } from "../ui/controls/CopyButton.tsx"
import { Dialog } from "../ui/feedback/Dialog.tsx"
import { DialogForm } from "../ui/feedback/DialogForm.tsx"
import { TextField } from "../ui/controls/Field.tsx"
import { Panel } from "../ui/layout/Panel.tsx"
import { showToast } from "../ui/feedback/Toasts.tsx"

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
  const changeOpen = (next: boolean) => {
    setOpen(next)
    if (!next) setSecrets(undefined)
  }
  return (
    <Panel title="Authenticator app" actions={isEnabled ? <Badge tone="good">On</Badge> : <Badge>Off</Badge>}>
      <div className="flex flex-wrap items-center gap-3 p-4">
        <p className="grow text-sm text-ink-2">
          {isEnabled
            ? "Sign-in requires a code from your authenticator app after the password."
            : "Require a code from an authenticator app after the password."}
        </p>
        <Button onClick={() => changeOpen(true)}>{isEnabled ? "Turn off" : "Set up"}</Button>
      </div>
      <Dialog
        open={open}
        onOpenChange={changeOpen}
        requiresClose={secrets !== undefined}
        title={isEnabled && secrets === undefined ? "Turn off the authenticator app" : "Set up an authenticator app"}
      >
        {secrets === undefined ? (
          <PasswordStep isEnabled={isEnabled} onCancel={() => changeOpen(false)} onSecrets={setSecrets} />
        ) : (
          <CodeStep secrets={secrets} onDone={() => changeOpen(false)} />
        )}
      </Dialog>
    </Panel>
  )
}

const PasswordStep = ({
  isEnabled,
  onCancel,
  onSecrets,
}: {
  readonly isEnabled: boolean
  readonly onSecrets: (secrets: Secrets) => void
  readonly onCancel: () => void
}) => {
  const client = useQueryClient()
  const [password, setPassword] = useState("")
  const confirm = useMutation({
    mutationFn: async () => {
      if (!isEnabled) return onSecrets(await Auth.enableTotp(password))
      await Auth.disableTotp(password)
      await client.invalidateQueries({ queryKey: ["session"] })
      showToast("Authenticator app turned off.")
      return onCancel()
    },
  })
  return (
    <DialogForm submit="Continue" work={confirm} error={confirm.error} onCancel={onCancel}>
      <TextField
        label="Current password"
        type="password"
        autoFocus
        autoComplete="current-password"
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
    </DialogForm>
  )
}

const CodeStep = ({ onDone, secrets }: { readonly secrets: Secrets; readonly onDone: () => void }) => {
  const client = useQueryClient()
  const [code, setCode] = useState("")
  const verify = useMutation({
    mutationFn: () => Auth.verifyTotp(code, false),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["session"] })
      showToast("Authenticator app turned on.")
      onDone()
    },
  })
  const secret = new URL(secrets.totpURI).searchParams.get("secret") ?? ""
  return (
    <DialogForm submit="Turn on" work={verify} error={verify.error} onCancel={onDone}>
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
        value={code}
        onChange={(event) => setCode(event.target.value)}
      />
    </DialogForm>
  )
}
