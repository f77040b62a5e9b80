import { useMutation } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import * as Auth from "../api/Auth.ts"
import { Button } from "../ui/controls/Button.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { TextField } from "../ui/controls/Field.tsx"
import { SignInLayout } from "./SignInLayout.tsx"

const MIN_CHARS = 12

/** Sets a password with the token of an invitation or reset link. The token is in the URL fragment, which browsers never send. */
export const Welcome = () => {
  const navigate = useNavigate()
  const [token] = useState(() => window.location.hash.slice(1))
  const [password, setPassword] = useState("")
  const set = useMutation({
    mutationFn: () => Auth.setPassword(token, password),
    onSuccess: () => navigate({ to: "/sign-in", replace: true }),
  })
  const isShort = password !== "" && password.length < MIN_CHARS
  return (
    <SignInLayout title="Welcome to Waybill" hint="Choose a password to sign in with.">
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          set.mutate()
        }}
      >
        <TextField
          label="Password"
          type="password"
          autoComplete="new-password"
          autoFocus
          required
          minLength={MIN_CHARS}
          hint={`At least ${MIN_CHARS} characters. A passphrase of a few words works well.`}
          error={isShort ? `Enter ${MIN_CHARS - password.length} more characters.` : undefined}
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        {set.error === null ? undefined : <ErrorMessage error={set.error} />}
        <Button
          type="submit"
          variant="primary"
          className="h-9"
          busy={set.isPending}
          disabled={password.length < MIN_CHARS}
        >
          Set password
        </Button>
      </form>
    </SignInLayout>
  )
}
