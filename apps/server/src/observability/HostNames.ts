import { Schema } from "effect"
import { isIP } from "node:net"

/**
 * Names under which a service may be asked for its numbers. A web page cannot give a browser numbers of another origin,
 * but whoever owns a public name can let it lead to this machine after the page was loaded (DNS rebinding). Such a
 * request names that name in its `Host`, so only names that no stranger can own are answered.
 */
export type HostNames = ReadonlySet<string>

/** A name as it stands in a `Host` header, without its port. */
export const HostName = Schema.String.check(
  Schema.makeFilter((text) => /^[\w-]+(?:\.[\w-]+)*\.?$/u.test(text), {
    expected: "a host name without a port, such as node1.example.com",
  }),
)

/** Characters of a name or an address and its port; nothing that a URL would read as a user, a path or a query. */
const WRITTEN_AS_HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/iu
/** Reserved for networks of one's own (RFC 6761, and ICANN's resolution of 2024 for `internal`). */
const PRIVATE_NAME = /\.(?:localhost|internal)$/u

const withoutDot = (name: string) => name.toLowerCase().replace(/\.$/u, "")

export const make = (names: ReadonlyArray<string>): HostNames => new Set(names.map(withoutDot))

/**
 * Whether a request was meant for this service, by its `Host`. True for addresses, for names of one label, which only a
 * local resolver knows, and without a `Host`, which every browser sends.
 */
export const includes = (names: HostNames, host: string | undefined): boolean => {
  if (host === undefined || host === "") return true
  if (!WRITTEN_AS_HOST.test(host) || !URL.canParse(`http://${host}/`)) return false
  const name = withoutDot(new URL(`http://${host}/`).hostname)
  if (name.startsWith("[") || isIP(name) !== 0) return true
  return !name.includes(".") || PRIVATE_NAME.test(name) || names.has(name)
}
