import * as TrustedResolver from "@waybill/mail/dane/TrustedResolver"
import { Effect } from "effect"
import * as Finding from "./Finding.ts"

const found = Finding.of("dane")

/** Name in a signed zone: a top-level domain, which will stay signed. */
const SIGNED = "org"
/** Name whose signatures are wrong on purpose, kept by Comcast for such checks. */
const BOGUS = "dnssec-failed.org"

const FIX = "Run a resolver that validates, such as unbound, or unset DANE_RESOLVER."

/** Checks whether the trusted resolver answers, marks signed answers, and refuses what is wrongly signed. */
export const checkDaneResolver = Effect.fnUntraced(function* (address: string, weight: Finding.Severity) {
  const server = TrustedResolver.parse(address)
  if (server === undefined) return found.problem(weight, `${address} is not an address`, FIX)
  const { query } = TrustedResolver.make({ server, query_tries: 1 })
  const [good, bad] = yield* Effect.all([query(SIGNED, "MX"), query(BOGUS, "A")], { concurrency: 2 })
  if (good.answer._tag === "Unavailable")
    return found.problem(
      weight,
      `${address} does not answer (${good.answer.reason}); direct delivery defers all mail`,
      FIX,
    )
  if (!good.isSecure)
    return found.problem(weight, `${address} does not mark ${SIGNED} as authentic; DANE is never used`, FIX)
  return bad.answer._tag === "Found"
    ? found.problem(
        weight,
        `${address} resolves ${BOGUS}, whose signatures are wrong; what it marks as authentic proves nothing`,
        FIX,
      )
    : found.ok(`${address} validates DNSSEC`)
})
