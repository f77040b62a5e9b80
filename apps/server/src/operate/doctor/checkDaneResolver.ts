import * as TrustedResolver from "@waybill/mail/dane/TrustedResolver"
import { Effect } from "effect"
import * as Finding from "./Finding.ts"

/** Name in a signed zone: a top-level domain, which will stay signed. */
const SIGNED = "org"
/** Name whose signatures are wrong on purpose, kept by Comcast for such checks. */
const BOGUS = "dnssec-failed.org"

const FIX = "Run a resolver that validates, such as unbound, or unset DANE_RESOLVER."

/** Checks whether the trusted resolver answers, marks signed answers, and refuses what is wrongly signed. */
export const checkDaneResolver = (address: string, weight: Finding.Severity): Effect.Effect<Finding.Finding> =>
  Effect.gen(function* () {
    const server = TrustedResolver.parse(address)
    if (server === undefined) return Finding.problem("dane", weight, `${address} is not an address`, FIX)
    const { query } = TrustedResolver.make({ server, query_tries: 1 })
    const [good, bad] = yield* Effect.all([query(SIGNED, "MX"), query(BOGUS, "A")], { concurrency: 2 })
    if (good.answer._tag === "Unavailable")
      return Finding.problem(
        "dane",
        weight,
        `${address} does not answer (${good.answer.reason}); direct delivery defers all mail`,
        FIX,
      )
    if (!good.isSecure)
      return Finding.problem("dane", weight, `${address} does not mark ${SIGNED} as authentic; DANE is never used`, FIX)
    return bad.answer._tag === "Found"
      ? Finding.problem(
          "dane",
          weight,
          `${address} resolves ${BOGUS}, whose signatures are wrong; what it marks as authentic proves nothing`,
          FIX,
        )
      : Finding.ok("dane", `${address} validates DNSSEC`)
  })
