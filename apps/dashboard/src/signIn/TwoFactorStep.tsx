import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import * as auth from "../api/Auth.ts"
import { Button } from "../ui/controls/Button.tsx"
import { ErrorNote } from "../ui/feedback/ErrorMessage.tsx"
import { Check, TextField } from "../ui/controls/Field.tsx"
import { Frame } from "./SignInLayout.tsx"

const DIGITS = 6

export const SecondFactor = ({
  onBack,
  onEntered,
}: {
  readonly onEntered: () => void
  readonly onBack: () => void
}) => {
  const [code, setCode] = useState("")
  const [trust, setTrust] = useState(false)
  const [byBackup, setByBackup] = useState(false)
  const verify = useMutation({
    mutationFn: (text: string) => (byBackup ? auth.verifyBackupCode(text.trim()) : auth.verifyTotp(text, trust)),
    onSuccess: onEntered,
  })
  const change = (text: string) => {
    setCode(text)
    if (!byBackup && /^\d{6}$/u.test(text)) verify.mutate(text)
  }
  return (
    <Frame
      title="One more step"
      hint={
        byBackup
          ? "Enter one of the codes that you kept. Each works once."
          : "Enter the code that your authenticator shows."
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          verify.mutate(code)
        }}
      >
        <TextField
          key={String(byBackup)}
          label={byBackup ? "Backup code" : "Code"}
          autoFocus
          required
          autoComplete="one-time-code"
          {...(byBackup ? {} : { inputMode: "numeric" as const, maxLength: DIGITS })}
          value={code}
          onChange={(event) => change(event.target.value)}
        />
        {byBackup ? undefined : (
          <Check
            label="Do not ask on this device for 30 days"
            checked={trust}
            onChange={(event) => setTrust(event.target.checked)}
          />
        )}
        {verify.error === null ? undefined : <ErrorNote error={verify.error} />}
        <Button type="submit" look="solid" className="h-9" busy={verify.isPending}>
          Go on
        </Button>
        <div className="flex justify-between text-xs">
          <button type="button" className="text-ink-2 hover:text-ink" onClick={onBack}>
            Back
          </button>
          <button
            type="button"
            className="text-ink-2 hover:text-ink"
            onClick={() => {
              setByBackup(!byBackup)
              setCode("")
            }}
          >
            {byBackup ? "Use the authenticator" : "Use a backup code"}
          </button>
        </div>
      </form>
    </Frame>
  )
}
