import * as Api from "./Api.ts"
import * as Stored from "./Stored.ts"
import { ApiError } from "./ApiError.ts"
import type { Session } from "./Records.ts"

const call = <A>(method: string, path: string, body?: unknown): Promise<A> =>
  Api.call(method, `/auth${path}`, body === undefined ? {} : { body })

export interface User {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly twoFactorEnabled: boolean | null
}

export interface Passkey {
  readonly id: string
  readonly name: string | null
  readonly createdAt: string | null
}

export interface DeviceSession {
  readonly id: string
  readonly token: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly expiresAt: string
  readonly ipAddress: string | null
  readonly userAgent: string | null
}

/** The user who is signed in on this device, and their role and scopes in the account. */
export interface SignedIn {
  readonly user: User
  readonly device: DeviceSession
  readonly session: Session
}

/**
 * Returns the signed-in user and their session in the account; `null` if nobody is signed in. The session is read after the
 * user, because a browser reports the refusal of a request as an error.
 */
export const current = async (): Promise<SignedIn | null> => {
  const signedIn = await call<{ readonly user: User; readonly session: DeviceSession } | null>("GET", "/get-session")
  if (signedIn === null) {
    Stored.forgetSearches()
    return null
  }
  const session = await Api.call<Session>("GET", "/v1/session")
  return { user: signedIn.user, device: signedIn.session, session }
}

export const signIn = (email: string, password: string) =>
  call<{ readonly twoFactorRedirect?: boolean }>("POST", "/sign-in/email", { email, password })
export const verifyTotp = (code: string, trustDevice: boolean) =>
  call<unknown>("POST", "/two-factor/verify-totp", { code, trustDevice })
export const verifyBackupCode = (code: string) => call<unknown>("POST", "/two-factor/verify-backup-code", { code })
export const signOut = () => call<unknown>("POST", "/sign-out", {})
/** Returns the address of the user whose password the link sets. Fails if the link was used or has expired. */
export const linkOwner = (token: string) => call<{ readonly email: string }>("POST", "/link-owner", { token })
export const setPassword = (token: string, newPassword: string) =>
  call<unknown>("POST", "/reset-password", { token, newPassword })
export const changePassword = (currentPassword: string, newPassword: string) =>
  call<unknown>("POST", "/change-password", { currentPassword, newPassword, revokeOtherSessions: true })
export const rename = (name: string) => call<unknown>("POST", "/update-user", { name })
export const enableTotp = (password: string) =>
  call<{ readonly totpURI: string; readonly backupCodes: ReadonlyArray<string> }>("POST", "/two-factor/enable", {
    password,
  })
export const disableTotp = (password: string) => call<unknown>("POST", "/two-factor/disable", { password })
export const sessions = () => call<ReadonlyArray<DeviceSession>>("GET", "/list-sessions")
export const endSession = (token: string) => call<unknown>("POST", "/revoke-session", { token })
export const passkeys = () => call<ReadonlyArray<Passkey>>("GET", "/passkey/list-user-passkeys")
export const removePasskey = (id: string) => call<unknown>("POST", "/passkey/delete-passkey", { id })

/** Redirects to the identity provider, which redirects back to `callbackURL`. */
export const signInWithOidc = async (callbackURL: string): Promise<void> => {
  const { url } = await call<{ readonly url: string }>("POST", "/sign-in/social", {
    provider: "oidc",
    callbackURL,
    errorCallbackURL: "/sign-in",
  })
  window.location.assign(url)
}

export const addPasskey = async (name: string): Promise<void> => {
  const { startRegistration } = await import("@simplewebauthn/browser")
  const optionsJSON = await call<Parameters<typeof startRegistration>[0]["optionsJSON"]>(
    "GET",
    `/passkey/generate-register-options?name=${encodeURIComponent(name)}`,
  )
  const response = await startRegistration({ optionsJSON }).catch(throwPasskeyError)
  await call("POST", "/passkey/verify-registration", { response, name })
}

export const signInWithPasskey = async (): Promise<void> => {
  const { startAuthentication } = await import("@simplewebauthn/browser")
  const optionsJSON = await call<Parameters<typeof startAuthentication>[0]["optionsJSON"]>(
    "GET",
    "/passkey/generate-authenticate-options",
  )
  const response = await startAuthentication({ optionsJSON }).catch(throwPasskeyError)
  await call("POST", "/passkey/verify-authentication", { response })
}

/** Browsers do not report why a passkey failed, so that sites cannot learn which passkeys exist. */
const throwPasskeyError = (error: unknown): never => {
  const name = error instanceof Error ? error.name : ""
  throw new ApiError({
    status: 0,
    message:
      name === "InvalidStateError"
        ? "This device already has a passkey for your account."
        : "The passkey request was canceled or timed out, or this device has no passkey for Waybill.",
    reason: "passkey",
    requestId: null,
  })
}
