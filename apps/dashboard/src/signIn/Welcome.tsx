import { useMutation } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import * as auth from "../api/Auth.ts"
import { Button } from "../ui/controls/Button.tsx"
import { ErrorNote } from "../ui/feedback/ErrorMessage.tsx"
import { TextField } from "../ui/controls/Field.tsx"
import { Frame } from "./SignInLayout.tsx"

const MIN_CHARS = 12

/** Whoever was given a link sets a password with it. The token stands behind the hash, which no server sees. */
export const Welcome = () => {
  const navigate = useNavigate()
  const [token] = useState(() => window.location.hash.slice(1))
  const [password, setPassword] = useState("")
  const set = useMutation({
    mutationFn: () => auth.setPassword(token, password),
    onSuccess: () => navigate({ to: "/sign-in", replace: true }),
  })
  const isShort = password !== "" && password.length < MIN_CHARS
  return (
    <Frame title="Welcome to Waybill" hint="Choose a password. With it and your address you sign in from now on.">
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
          hint={`At least ${MIN_CHARS} characters; a few words make a good one.`}
          problem={isShort ? `${MIN_CHARS - password.length} more characters.` : undefined}
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        {set.error === null ? undefined : <ErrorNote error={set.error} />}
        <Button type="submit" look="solid" className="h-9" busy={set.isPending} disabled={password.length < MIN_CHARS}>
          Set the password
        </Button>
      </form>
    </Frame>
  )
}
