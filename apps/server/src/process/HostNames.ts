import { Schema } from "effect"
import { isIP } from "node:net"

/**
 * Host names under which metrics are served. A web page cannot read metrics of another origin, but the owner of a public
 * name can point it at this machine after the page was loaded (DNS rebinding). Such a request has that name as its `Host`,
 * so only names that no stranger can own are allowed.
 */
export type HostNames = ReadonlySet<string>

/** A host name without a port. */
export const HostName = Schema.String.check(
  Schema.makeFilter((text) => /^[\w-]+(?:\.[\w-]+)*\.?$/u.test(text), {
    expected: "a host name without a port, such as node1.example.com",
  }),
)

/** Form of a name or address with a port, without characters that a URL would read as a user, a path or a query. */
const WRITTEN_AS_HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/iu
/** Names reserved for private networks (RFC 6761, and ICANN's resolution of 2024 for `internal`). */
const PRIVATE_NAME = /\.(?:localhost|internal)$/u

const withoutDot = (name: string) => name.toLowerCase().replace(/\.$/u, "")

export const make = (names: ReadonlyArray<string>): HostNames => new Set(names.map(withoutDot))

/** Whether a `Host` is a name or an address with or without a port, so that a URL can be built from it. */
export const isHost = (host: string): boolean => WRITTEN_AS_HOST.test(host) && URL.canParse(`http://${host}/`)

/**
 * Whether a request with this `Host` is allowed. True for addresses, for names of one label, which only a local resolver
 * knows, and without a `Host`, since every browser sends one.
 */
export const includes = (names: HostNames, host: string | undefined): boolean => {
  if (host === undefined || host === "") return true
  if (!isHost(host)) return false
  const name = withoutDot(new URL(`http://${host}/`).hostname)
  if (name.startsWith("[") || isIP(name) !== 0) return true
  return !name.includes(".") || PRIVATE_NAME.test(name) || names.has(name)
}
