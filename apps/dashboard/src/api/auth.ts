import { OURS, Refused } from "./request.ts"

interface AuthError {
  readonly code?: string
  readonly message?: string
}

/** The sign-in library names its refusals; these are the ones that a person meets. */
const WORDS: Record<string, string> = {
  INVALID_EMAIL_OR_PASSWORD: "This address and password do not belong together.",
  INVALID_EMAIL: "This is no email address.",
  INVALID_PASSWORD: "This is not your password.",
  INVALID_CODE: "This code does not fit. Codes change every 30 seconds; try the one that is shown now.",
  INVALID_TOKEN: "This link has been used or has run out. Ask an owner of the account for a new one.",
  PASSWORD_TOO_SHORT: "A password has at least 12 characters.",
  SESSION_EXPIRED: "For this you have to have signed in within the last hour. Sign out, sign in, and try again.",
  SESSION_NOT_FRESH: "For this you have to have signed in within the last hour. Sign out, sign in, and try again.",
  FAILED_TO_CREATE_SESSION: "This user belongs to no account any more.",
}

const call = async <A>(method: string, path: string, body?: unknown): Promise<A> => {
  const response = await fetch(`/auth${path}`, {
    method,
    headers: { ...OURS, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(() => undefined)
  if (response?.ok === true) return (await response.json()) as A
  const error = ((await response?.json().catch(() => ({}))) ?? {}) as AuthError
  const message =
    response === undefined
      ? "The server could not be reached. Is it running, and are you online?"
      : response.status === 429
        ? "Too many tries from here. Wait a minute, then try again."
        : (WORDS[error.code ?? ""] ?? error.message ?? `The server answered ${response.status} and gave no reason.`)
  throw new Refused({
    status: response?.status ?? 0,
    message,
    reason: error.code ?? "unreadable",
    requestId: response?.headers.get("x-request-id") ?? null,
  })
}

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
  readonly ipAddress: string | null
  readonly userAgent: string | null
}

export const current = () =>
  call<{ readonly user: User; readonly session: DeviceSession } | null>("GET", "/get-session")
export const signIn = (email: string, password: string) =>
  call<{ readonly twoFactorRedirect?: boolean }>("POST", "/sign-in/email", { email, password })
export const verifyTotp = (code: string, trustDevice: boolean) =>
  call<unknown>("POST", "/two-factor/verify-totp", { code, trustDevice })
export const verifyBackupCode = (code: string) => call<unknown>("POST", "/two-factor/verify-backup-code", { code })
export const signOut = () => call<unknown>("POST", "/sign-out", {})
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

/** Leaves for the provider, which sends the browser back. */
export const withOidc = async (callbackURL: string): Promise<void> => {
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
  const response = await startRegistration({ optionsJSON }).catch(given)
  await call("POST", "/passkey/verify-registration", { response, name })
}

export const withPasskey = async (): Promise<void> => {
  const { startAuthentication } = await import("@simplewebauthn/browser")
  const optionsJSON = await call<Parameters<typeof startAuthentication>[0]["optionsJSON"]>(
    "GET",
    "/passkey/generate-authenticate-options",
  )
  const response = await startAuthentication({ optionsJSON }).catch(given)
  await call("POST", "/passkey/verify-authentication", { response })
}

/** Browsers do not say why, lest a site learns which passkeys there are. */
const given = (error: unknown): never => {
  const name = error instanceof Error ? error.name : ""
  throw new Refused({
    status: 0,
    message:
      name === "InvalidStateError"
        ? "This device has a passkey for you already."
        : "The browser gave no passkey: it was cancelled, took too long, or there is none.",
    reason: "passkey",
    requestId: null,
  })
}
