import { Result, Schema } from "effect"
import * as Address from "../values/Address.ts"
import * as DomainName from "../values/DomainName.ts"
import * as Text from "../values/Text.ts"

/** The addresses that a route is for: one address, `*@domain` or `name+*@domain`, in lower case. */
export const RoutePattern = Text.Stored.check(Schema.isMaxLength(Address.MAX_ADDRESS_OCTETS))
  .pipe(Schema.brand("RoutePattern"))
  .annotate({ identifier: "RoutePattern" })
export type RoutePattern = typeof RoutePattern.Type

const ANY = "*"
const ANY_TAG = "+*"

export const parse: Text.Parse<RoutePattern> = (text) => {
  if (Text.hasControl(text)) return Result.fail("must not contain control characters")
  const trimmed = text.trim().toLowerCase()
  const at = trimmed.lastIndexOf("@")
  const local = trimmed.slice(0, Math.max(0, at))
  if (local === ANY)
    return Result.mapBoth(DomainName.parse(trimmed.slice(at + 1)), {
      onFailure: (problem) => `is not an address: the part after the @ ${problem}`,
      onSuccess: (domain) => `${ANY}@${domain}` as RoutePattern,
    })
  const hasTag = local.endsWith(ANY_TAG)
  const name = hasTag ? local.slice(0, -ANY_TAG.length) : local
  if (name.includes(ANY)) return Result.fail("has a * that is neither the whole name, as in *@acme.test, nor after a +")
  return Result.map(
    Address.parseHeld(hasTag ? `${name}${trimmed.slice(at)}` : trimmed),
    (address) => (hasTag ? `${name}${ANY_TAG}@${Address.domainOf(address)}` : address) as string as RoutePattern,
  )
}

export const FromText = Text.parsed(
  RoutePattern,
  {
    description: "`support@acme.test`, `*@acme.test` or `support+*@acme.test`, in any case",
    examples: ["support@acme.test", "*@acme.test", "support+*@acme.test"],
  },
  parse,
  (pattern) => pattern,
)

/** Whether an address is one of those that a pattern names. */
export const matches = (pattern: RoutePattern, address: string): boolean => {
  const text = address.toLowerCase()
  if (pattern.startsWith(`${ANY}@`)) return text.endsWith(pattern.slice(ANY.length))
  const at = pattern.indexOf(`${ANY_TAG}@`)
  if (at === -1) return text === pattern
  const name = pattern.slice(0, at + 1)
  const domain = pattern.slice(at + ANY_TAG.length)
  return text.startsWith(name) && text.endsWith(domain) && text.length > name.length + domain.length
}
