import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { Building2, Fingerprint } from "lucide-react"
import { useState } from "react"
import { ApiError } from "../api/ApiError.ts"
import * as Auth from "../api/Auth.ts"
import { instance } from "../api/instance.ts"
import { Button } from "../ui/controls/Button.tsx"
import { CopyField } from "../ui/controls/CopyButton.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { TextField, useForm } from "../ui/controls/Field.tsx"
import { SignInLayout } from "./SignInLayout.tsx"
import { TwoFactorStep } from "./TwoFactorStep.tsx"

/** Browsers bind a passkey to a domain name, so passkeys do not work on a page opened by IP address. */
const hasPasskeys = "PublicKeyCredential" in window && window.location.hostname === instance.passkeyDomain

/** Messages for the error codes of a sign-in with the identity provider. */
const OIDC_ERRORS: Record<string, string> = {
  signup_disabled:
    "You signed in with your provider, but your address has no invitation here, or has several. Open the link from your invitation.",
  account_not_linked: "Your provider has not verified your email address. Sign in with your password.",
  unable_to_link_account:
    "This user is linked to another account at your provider. If your provider account changed, ask an operator to run waybill users reset-factors.",
  state_mismatch: "The sign-in timed out or was started in another browser. Try again.",
  state_not_found: "The sign-in timed out or was started in another browser. Try again.",
}

/** A refused password has no details that help. */
const withoutDetails = (error: unknown): unknown =>
  error instanceof ApiError && error.status === 401 ? new Error(error.message) : error

export const SignIn = () => {
  const search = useSearch({ from: "/sign-in" })
  const navigate = useNavigate()
  const client = useQueryClient()
  const [needsCode, setNeedsCode] = useState(search.second === true)
  const enter = async () => {
    client.clear()
    await navigate({ to: search.next ?? "/", replace: true })
  }
  const form = useForm({
    initial: { email: "", password: "" },
    send: ({ email, password }) => Auth.signIn(email, password),
    onSent: ({ twoFactorRedirect }) => (twoFactorRedirect === true ? setNeedsCode(true) : enter()),
  })
  const byPasskey = useMutation({ mutationFn: Auth.signInWithPasskey, onSuccess: enter })
  const byOidc = useMutation({ mutationFn: () => Auth.signInWithOidc(search.next ?? "/") })
  if (needsCode) return <TwoFactorStep onVerified={() => void enter()} onBack={() => setNeedsCode(false)} />
  const oidcError =
    search.error === undefined
      ? undefined
      : new Error(
          (Object.hasOwn(OIDC_ERRORS, search.error) ? OIDC_ERRORS[search.error] : undefined) ??
            `Your provider returned an error: ${search.error}.`,
        )
  const error = form.error ?? byPasskey.error ?? byOidc.error ?? oidcError
  return (
    <SignInLayout title="Sign in to Waybill">
      <form className="flex flex-col gap-4" onSubmit={form.onSubmit}>
        <TextField
          label="Email"
          type="email"
          name="email"
          autoComplete="username webauthn"
          autoFocus
          required
          {...form.input("email")}
        />
        <TextField
          label="Password"
          type="password"
          name="password"
          autoComplete="current-password"
          required
          {...form.input("password")}
        />
        <ErrorMessage error={withoutDetails(error)} />
        <Button type="submit" variant="primary" busy={form.isPending} className="h-9">
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
              Sign in with a passkey
            </Button>
          ) : undefined}
          {instance.oidc ? (
            <Button
              className="h-9"
              icon={<Building2 size={15} />}
              busy={byOidc.isPending}
              onClick={() => byOidc.mutate()}
            >
              Sign in with SSO
            </Button>
          ) : undefined}
        </div>
      ) : undefined}
      <p className="mt-6 mb-2 text-center text-xs text-ink-3">
        First sign-in? The password was printed when Waybill first started. Lost it? Run this there, with your address:
      </p>
      <CopyField text="npx waybill users password owner@acme.test" label="Copy command" />
    </SignInLayout>
  )
}
