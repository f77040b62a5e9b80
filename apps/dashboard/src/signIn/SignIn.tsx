import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { Building2, Fingerprint } from "lucide-react"
import { useState } from "react"
import * as auth from "../api/Auth.ts"
import { instance } from "../api/instance.ts"
import { Button } from "../ui/controls/Button.tsx"
import { ErrorNote } from "../ui/feedback/ErrorMessage.tsx"
import { TextField } from "../ui/controls/Field.tsx"
import { Frame } from "./SignInLayout.tsx"
import { SecondFactor } from "./TwoFactorStep.tsx"

/** A passkey belongs to a name, and an address is none. */
const hasPasskeys = "PublicKeyCredential" in window && window.location.hostname === instance.passkeyDomain

/** Why the identity provider's answer did not sign anybody in. */
const REFUSALS: Record<string, string> = {
  signup_disabled:
    "Your provider recognized you, but this address has not been invited here yet, or by several accounts. Use the link of your invitation.",
  account_not_linked: "Your provider has not verified this address. Sign in with your password.",
  unable_to_link_account:
    "This user signs in with another account of your provider. If yours has changed, ask an operator to run waybill users reset-factors.",
  state_mismatch: "The sign-in took too long or was begun in another browser. Try again.",
  state_not_found: "The sign-in took too long or was begun in another browser. Try again.",
}

export const SignIn = () => {
  const search = useSearch({ from: "/sign-in" })
  const navigate = useNavigate()
  const client = useQueryClient()
  const [email, setEmail] = useState("")
  const [password, setPassword] = useState("")
  const [second, setSecond] = useState(search.second === true)
  const entered = async () => {
    client.clear()
    await navigate({ to: search.next ?? "/", replace: true })
  }
  const byPassword = useMutation({
    mutationFn: () => auth.signIn(email, password),
    onSuccess: ({ twoFactorRedirect }) => (twoFactorRedirect === true ? setSecond(true) : entered()),
  })
  const byPasskey = useMutation({ mutationFn: auth.withPasskey, onSuccess: entered })
  const byOidc = useMutation({ mutationFn: () => auth.withOidc(search.next ?? "/") })
  if (second) return <SecondFactor onEntered={() => void entered()} onBack={() => setSecond(false)} />
  const refused =
    search.error === undefined ? undefined : new Error(REFUSALS[search.error] ?? `Your provider says: ${search.error}.`)
  const error = byPassword.error ?? byPasskey.error ?? byOidc.error ?? refused
  return (
    <Frame title="Sign in to Waybill">
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          byPassword.mutate()
        }}
      >
        <TextField
          label="Email"
          type="email"
          name="email"
          autoComplete="username webauthn"
          autoFocus
          required
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
        <TextField
          label="Password"
          type="password"
          name="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        {error === null || error === undefined ? undefined : <ErrorNote error={error} />}
        <Button type="submit" look="solid" busy={byPassword.isPending} className="h-9">
          Sign in
        </Button>
      </form>
      {hasPasskeys || instance.oidc ? (
        <div className="mt-4 flex flex-col gap-2 border-t border-line pt-4">
          {hasPasskeys ? (
            <Button
              className="h-9"
              icon={<Fingerprint size={15} />}
              busy={byPasskey.isPending}
              onClick={() => byPasskey.mutate()}
            >
              Use a passkey
            </Button>
          ) : undefined}
          {instance.oidc ? (
            <Button
              className="h-9"
              icon={<Building2 size={15} />}
              busy={byOidc.isPending}
              onClick={() => byOidc.mutate()}
            >
              Use your organisation’s account
            </Button>
          ) : undefined}
        </div>
      ) : undefined}
      <p className="mt-6 text-center text-xs text-ink-3">
        The first owner’s password stood in the terminal at the first start. A lost one is replaced by{" "}
        <code className="font-mono">npx waybill users</code>.
      </p>
    </Frame>
  )
}
