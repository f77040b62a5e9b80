import type { Guarding } from "./Guards.ts"
import type { ProofStore } from "./Proofs.ts"

/** Where everything about signing in lives. */
export const PATH = "/auth"
/** How the client's address reaches the library: set by us on every request, whatever the client wrote there. */
export const ADDRESS_HEADER = "x-waybill-client"
/** Link a person opens to set a password, below the dashboard. */
export const LINK_PATH = "/welcome"
/** How long a link that sets a password may be used. */
export const LINK_HOURS = 72
/** Guessable passwords are refused by their length alone: NIST SP 800-63B asks for no rules about characters. */
export const MIN_PASSWORD_CHARS = 12
export const MAX_PASSWORD_CHARS = 256
/**
 * Tries a minute to sign in, to give a code, to prove oneself by a password, to use a link, a passkey or the provider:
 * each of these for each address, an IPv6 /64 being one, and of codes and passwords for each user too.
 */
export const TRIES_PER_MINUTE = 10
/** How long after signing in a password, a second factor or a passkey may be changed without proving oneself again. */
export const FRESH_MINUTES = 60

export interface Options {
  /** How browsers reach the service. */
  readonly url: string
  /** The hosts under which it may be asked for: that of the URL, and this machine's own names. */
  readonly hosts: ReadonlyArray<string>
  readonly origins: ReadonlyArray<string>
  /** A passkey belongs to a name; an address is none, so on this machine it is `localhost`. */
  readonly passkeyDomain: string
  readonly secret: string
  readonly oidc: { readonly issuer: string; readonly clientId: string; readonly clientSecret: string } | undefined
  /** A session is refused, by `false`, to whoever belongs to no account. */
  readonly beforeSession: (session: { readonly userId: string }) => Promise<false | undefined>
  readonly afterSession: (session: { readonly userId: string }) => Promise<void>
  readonly endSessions: (userId: string) => Promise<void>
  readonly guarding: Guarding
  readonly proofs: ProofStore
  readonly log: (level: string, message: string, ...more: ReadonlyArray<unknown>) => void
}

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|\[::1\]|localhost)$/u

/** What follows from the address of the service alone. */
export const placed = (url: string): Pick<Options, "url" | "hosts" | "origins" | "passkeyDomain"> => {
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
