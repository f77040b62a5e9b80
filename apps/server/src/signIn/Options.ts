import type { Identity } from "@waybill/store/users/Users"

/** Path of the sign-in endpoints. */
export const PATH = "/auth"
/** Header with the client's address for the library. It is set on every request, so a client cannot forge it. */
export const ADDRESS_HEADER = "x-waybill-client"
/** Path of the dashboard page that sets a password. */
export const LINK_PATH = "/welcome"
/** Hours for which a link that sets a password is valid. */
export const LINK_HOURS = 72
/** Minimum length of a password. NIST SP 800-63B advises against rules about characters. */
export const MIN_PASSWORD_CHARS = 12
export const MAX_PASSWORD_CHARS = 256
/**
 * Maximum number of attempts a minute of each kind (sign-in, code, password, link, passkey, provider) from an IPv4 address
 * or IPv6 /64, and of codes and passwords also for each user.
 */
export const TRIES_PER_MINUTE = 10
/** Minutes after a sign-in in which a password, second factor or passkey may be changed without signing in again. */
export const FRESH_MINUTES = 60

/** Functions of the store that the guards use. */
export interface GuardStore {
  readonly now_ms: () => Promise<number>
  readonly identities: (email: string) => Promise<ReadonlyArray<Identity>>
  /** Counts an attempt of a user. False once the limit is reached. */
  readonly allows: (tries: "code" | "password", user_id: string) => Promise<boolean>
  readonly authenticatorOf: (user_id: string) => Promise<{ readonly id: string; readonly secret: string } | undefined>
  /** Stores the counter of a passkey. False if it did not increase. */
  readonly acceptCounter: (credential_id: string, counter: number) => Promise<boolean>
  /** Accepts the code of a time step, at most once. */
  readonly acceptStep: (factor_id: string, step: number) => Promise<boolean>
}

/** Functions of the store about changes of passwords and second factors. */
export interface ProofStore {
  /** Returns the number of changes so far, once no change is in progress. */
  readonly version: (user_id: string) => Promise<number | undefined>
  /** Ends all short-lived proofs of a user, and returns the version after that. */
  readonly end: (user_id: string) => Promise<number | undefined>
  readonly endSession: (id: string) => Promise<void>
  readonly endVerification: (id: string) => Promise<void>
}

export interface Options {
  /** URL under which browsers reach the service. */
  readonly url: string
  /** Hosts under which the service may be requested: that of the URL, and on this machine its local names. */
  readonly hosts: ReadonlyArray<string>
  readonly origins: ReadonlyArray<string>
  /** Domain of passkeys. An IP address cannot have any, so on this machine it is `localhost`. */
  readonly passkeyDomain: string
  readonly secret: string
  readonly oidc: { readonly issuer: string; readonly clientId: string; readonly clientSecret: string } | undefined
  /** Returns false for a user who belongs to no account, whose session is then refused. */
  readonly beforeSession: (session: { readonly userId: string }) => Promise<false | undefined>
  readonly afterSession: (session: { readonly userId: string }) => Promise<void>
  readonly endSessions: (userId: string) => Promise<void>
  readonly guards: GuardStore
  readonly proofs: ProofStore
  readonly log: (level: string, message: string, ...more: ReadonlyArray<unknown>) => void
}

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|\[::1\]|localhost)$/u

/** Returns the options that follow from the URL of the service. */
export const urlsOf = (url: string): Pick<Options, "url" | "hosts" | "origins" | "passkeyDomain"> => {
  const { host, hostname, origin, port, protocol } = new URL(url)
  if (!LOOPBACK.test(hostname)) return { url: origin, hosts: [host], origins: [origin], passkeyDomain: hostname }
  const suffix = port === "" ? "" : `:${port}`
  const hosts = [...new Set([host, `127.0.0.1${suffix}`, `localhost${suffix}`])]
  return {
    url: origin,
    hosts,
    origins: hosts.map((each) => `${protocol}//${each}`),
    passkeyDomain: "localhost",
  }
}
