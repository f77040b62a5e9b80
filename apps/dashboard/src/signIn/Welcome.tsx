import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { ApiError } from "../api/ApiError.ts"
import * as Auth from "../api/Auth.ts"
import { Button } from "../ui/controls/Button.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { TextField, useForm } from "../ui/controls/Field.tsx"
import { Skeleton } from "../ui/feedback/Skeleton.tsx"
import { SignInLayout } from "./SignInLayout.tsx"

const MIN_CHARS = 12

/** Opens an invitation or reset link. The token is in the URL fragment, which browsers never send. */
export const Welcome = () => {
  const [token] = useState(() => window.location.hash.slice(1))
  const owner = useQuery({
    queryKey: ["link-owner", token],
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    queryFn: () => Auth.linkOwner(token),
  })
  if (owner.isError && owner.error instanceof ApiError && owner.error.status === 400)
    return <DeadLink isUsed={owner.error.reason === "used_token"} />
  return (
    <SignInLayout
      title="Welcome to Waybill"
      hint={
        owner.data === undefined ? undefined : (
          <>
            Choose a password for <UntrustedText as="strong" className="font-medium text-ink" text={owner.data.email} />
            .
          </>
        )
      }
    >
      {owner.isError ? (
        <ErrorMessage error={owner.error} onRetry={() => void owner.refetch()} />
      ) : owner.data === undefined ? (
        <Skeleton className="h-9" />
      ) : (
        <ChoosePassword email={owner.data.email} token={token} />
      )}
    </SignInLayout>
  )
}

/** A link that sets no password any more. */
const DeadLink = ({ isUsed }: { readonly isUsed: boolean }) => (
  <SignInLayout
    title={isUsed ? "This link was already used" : "This link has expired"}
    hint={
      isUsed
        ? "A password was set with it. Sign in with that password, or ask an owner of the account for a new link."
        : "It was valid for a limited time, or a newer one replaced it. Ask an owner of the account for a new link."
    }
  >
    <Link
      to="/sign-in"
      className="flex h-9 items-center justify-center rounded-lg bg-solid text-sm font-medium text-solid-ink hover:bg-solid-hover"
    >
      Go to sign-in
    </Link>
  </SignInLayout>
)

const ChoosePassword = ({ email, token }: { readonly email: string; readonly token: string }) => {
  const navigate = useNavigate()
  const client = useQueryClient()
  const form = useForm({
    initial: { password: "" },
    send: async ({ password }) => {
      await Auth.setPassword(token, password)
      // The password is set; if signing in fails now, the sign-in screen says why.
      return await Auth.signIn(email, password).catch(() => undefined)
    },
    onSent: async (signedIn) => {
      client.clear()
      if (signedIn === undefined) await navigate({ to: "/sign-in", replace: true })
      else if (signedIn.twoFactorRedirect === true)
        await navigate({ to: "/sign-in", search: { second: true }, replace: true })
      else await navigate({ to: "/", replace: true })
    },
  })
  const { password } = form.values
  const isShort = password !== "" && password.length < MIN_CHARS
  return (
    <form className="flex flex-col gap-4" onSubmit={form.onSubmit}>
      {/* Lets password managers store the address with the password. */}
      <input type="hidden" autoComplete="username" value={email} readOnly />
      <TextField
        label="Password"
        type="password"
        autoComplete="new-password"
        autoFocus
        required
        minLength={MIN_CHARS}
        hint={`At least ${MIN_CHARS} characters. A passphrase of a few words works well.`}
        {...form.input("password")}
        error={isShort ? `Enter ${MIN_CHARS - password.length} more characters.` : form.errorOf("password")}
      />
      <ErrorMessage error={form.error} />
      <Button
        type="submit"
        variant="primary"
        className="h-9"
        busy={form.isPending}
        disabled={password.length < MIN_CHARS}
      >
        Set password and sign in
      </Button>
    </form>
  )
}
