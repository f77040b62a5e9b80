import * as Dkim from "@waybill/mail/dkim/Dkim"
import type { ExaminedKey } from "@waybill/store/operations/ExaminedKeys"
import type { Keyring } from "@waybill/store/secrets/InstanceKey"
import { contextOf } from "@waybill/store/secrets/Secrets"
import { Effect, Option, Redacted, Result } from "effect"
import { type Finding, ok, skipped, trouble, warning, type Weight } from "./Finding.ts"

/** Named one by one; of more there is only the number. */
const MAX_NAMED = 5

/** Each key that signs mail now is opened and tried, as a worker would. */
export const dkimKeys = (
  keys: ReadonlyArray<ExaminedKey>,
  ring: Option.Option<Keyring>,
  weight: Weight,
): Effect.Effect<Finding> =>
  Effect.gen(function* () {
    if (keys.length === 0) return skipped("dkim keys", "there is no domain yet")
    if (Option.isNone(ring)) return skipped("dkim keys", "the instance key that opens them is not on this machine")
    const bad = yield* Effect.filter(keys, (key) => Effect.map(signs(key, ring.value), (does) => !does))
    const first = bad.filter(({ is_second }) => !is_second)
    if (first.length > 0) {
      return trouble(
        "dkim keys",
        weight,
        `mail waits that is to be signed by ${named(first)}, which cannot be opened or cannot sign`,
        "Give this node the instance key under which they are sealed (docs/operating/keys.md), or rotate them: POST /v1/domains/{domain}/dkim/rotate, and publish the new records.",
      )
    }
    if (bad.length > 0) {
      return warning(
        "dkim keys",
        `mail goes without the second signature of ${named(bad)}, which cannot be opened or cannot sign`,
        "Replace it by POST /v1/domains/{domain}/dkim/ed25519/rotate and publish the new record, or take it away by DELETE /v1/domains/{domain}/dkim/ed25519.",
      )
    }
    return ok("dkim keys", `${keys.length} ${keys.length === 1 ? "key opens and signs" : "keys open and sign"}`)
  })

const signs = ({ dkim, domain, place, sealed }: ExaminedKey, ring: Keyring): Effect.Effect<boolean> => {
  if (sealed === null) return Effect.succeed(false)
  const opened = Result.try(() => ring.open(contextOf(place), sealed))
  if (Result.isFailure(opened)) return Effect.succeed(false)
  const { algorithm, selector } = dkim
  // Not the worker's name for it: what has been parsed under that is believed.
  const id = `${place.account_id} ${place.id} ${selector} ${Buffer.from(sealed.nonce).toString("hex")}`
  return Dkim.canSign({ id, domain, selector, algorithm, privateKey: Redacted.make(opened.success) })
}

const named = (keys: ReadonlyArray<ExaminedKey>): string => {
  const names = keys.slice(0, MAX_NAMED).map(({ dkim, domain }) => `${dkim.selector}._domainkey.${domain}`)
  const more = keys.length - names.length
  return more === 0 ? names.join(", ") : `${names.join(", ")} and ${more} more`
}
