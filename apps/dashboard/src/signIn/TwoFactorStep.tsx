import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import * as Auth from "../api/Auth.ts"
import { Button } from "../ui/controls/Button.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { Checkbox, TextField } from "../ui/controls/Field.tsx"
import { SignInLayout } from "./SignInLayout.tsx"

const DIGITS = 6

interface Props {
  readonly onVerified: () => void
  readonly onBack: () => void
}

export const TwoFactorStep = ({ onBack, onVerified }: Props) => {
  const [code, setCode] = useState("")
  const [trust, setTrust] = useState(false)
  const [isBackup, setIsBackup] = useState(false)
  const verify = useMutation({
    mutationFn: (text: string) => (isBackup ? Auth.verifyBackupCode(text.trim()) : Auth.verifyTotp(text, trust)),
    onSuccess: onVerified,
  })
  const change = (text: string) => {
    setCode(text)
    if (!isBackup && /^\d{6}$/u.test(text)) verify.mutate(text)
  }
  return (
    <SignInLayout
      title="Two-factor authentication"
      hint={
        isBackup
          ? "Enter one of your backup codes. Each code works once."
          : "Enter the code from your authenticator app."
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
          key={String(isBackup)}
          label={isBackup ? "Backup code" : "Code"}
          autoFocus
          required
          autoComplete="one-time-code"
          {...(isBackup ? {} : { inputMode: "numeric" as const, maxLength: DIGITS })}
          value={code}
          onChange={(event) => change(event.target.value)}
        />
        {isBackup ? undefined : (
          <Checkbox
            label="Trust this device for 30 days"
            checked={trust}
            onChange={(event) => setTrust(event.target.checked)}
          />
        )}
        <ErrorMessage error={verify.error} />
        <Button type="submit" variant="primary" className="h-9" busy={verify.isPending}>
          Verify
        </Button>
        <div className="flex justify-between text-xs">
          <button type="button" className="text-ink-2 hover:text-ink" onClick={onBack}>
            Back
          </button>
          <button
            type="button"
            className="text-ink-2 hover:text-ink"
            onClick={() => {
              setIsBackup(!isBackup)
              setCode("")
            }}
          >
            {isBackup ? "Use the authenticator app" : "Use a backup code"}
          </button>
        </div>
      </form>
    </SignInLayout>
  )
}
