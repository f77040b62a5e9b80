import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import * as auth from "../api/Auth.ts"
import { useSession } from "../shell/useSession.ts"
import { Badge } from "../ui/display/Badge.tsx"
import { Button } from "../ui/controls/Button.tsx"
import { CodeBlock } from "../ui/display/Code.tsx"
import { CopyField } from "../ui/controls/CopyButton.tsx"
import { Dialog, DialogForm } from "../ui/feedback/Dialog.tsx"
import { TextField } from "../ui/controls/Field.tsx"
import { Panel } from "../ui/layout/Screen.tsx"
import { say } from "../ui/feedback/Toasts.tsx"

interface Secrets {
  readonly totpURI: string
  readonly backupCodes: ReadonlyArray<string>
}

/** Codes of an authenticator app, asked for after the password. */
export const SecondFactor = () => {
  const { user } = useSession()
  const isOn = user.twoFactorEnabled === true
  const [open, setOpen] = useState(false)
  const [secrets, setSecrets] = useState<Secrets>()
  const change = (next: boolean) => {
    setOpen(next)
    if (!next) setSecrets(undefined)
  }
  return (
    <Panel title="Authenticator app" actions={isOn ? <Badge tone="good">On</Badge> : <Badge>Off</Badge>}>
      <div className="flex flex-wrap items-center gap-3 p-4">
        <p className="grow text-sm text-ink-2">
          {isOn
            ? "After your password you are asked for a code."
            : "After your password, a code that changes every 30 seconds."}
        </p>
        <Button onClick={() => change(true)}>{isOn ? "Turn it off" : "Set it up"}</Button>
      </div>
      <Dialog
        open={open}
        onOpenChange={change}
        sticky={secrets !== undefined}
        title={isOn && secrets === undefined ? "Turn the authenticator off" : "Set up an authenticator"}
      >
        {secrets === undefined ? (
          <Prove isOn={isOn} onCancel={() => change(false)} onSecrets={setSecrets} />
        ) : (
          <Enrol secrets={secrets} onDone={() => change(false)} />
        )}
      </Dialog>
    </Panel>
  )
}

const Prove = ({
  isOn,
  onCancel,
  onSecrets,
}: {
  readonly isOn: boolean
  readonly onSecrets: (secrets: Secrets) => void
  readonly onCancel: () => void
}) => {
  const client = useQueryClient()
  const [password, setPassword] = useState("")
  const prove = useMutation({
    mutationFn: async () => {
      if (!isOn) return onSecrets(await auth.enableTotp(password))
      await auth.disableTotp(password)
      await client.invalidateQueries({ queryKey: ["session"] })
      say("The authenticator is off.")
      return onCancel()
    },
  })
  return (
    <DialogForm
      submit="Go on"
      busy={prove.isPending}
      error={prove.error}
      onCancel={onCancel}
      onSubmit={() => prove.mutate()}
    >
      <TextField
        label="Your password"
        type="password"
        autoFocus
        autoComplete="current-password"
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
    </DialogForm>
  )
}

const Enrol = ({ onDone, secrets }: { readonly secrets: Secrets; readonly onDone: () => void }) => {
  const client = useQueryClient()
  const [code, setCode] = useState("")
  const verify = useMutation({
    mutationFn: () => auth.verifyTotp(code, false),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["session"] })
      say("From now on a code is asked for.")
      onDone()
    },
  })
  const secret = new URL(secrets.totpURI).searchParams.get("secret") ?? ""
  return (
    <DialogForm
      submit="Turn it on"
      busy={verify.isPending}
      error={verify.error}
      onCancel={onDone}
      onSubmit={() => verify.mutate()}
    >
      <div>
        <p className="mb-1.5 text-sm">
          Enter this key in your authenticator, or{" "}
          <a className="font-medium text-accent hover:underline" href={secrets.totpURI}>
            open it there
          </a>
          .
        </p>
        <CopyField text={secret} label="Copy the key" />
      </div>
      <div>
        <p className="mb-1.5 text-sm">Keep these codes. Each lets you in once, should the authenticator be lost.</p>
        <CodeBlock label="Backup codes" code={secrets.backupCodes.join("\n")} />
      </div>
      <TextField
        label="The code that it shows now"
        inputMode="numeric"
        autoComplete="one-time-code"
        maxLength={6}
        value={code}
        onChange={(event) => setCode(event.target.value)}
      />
    </DialogForm>
  )
}
