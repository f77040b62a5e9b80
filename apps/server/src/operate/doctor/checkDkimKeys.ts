import * as Dkim from "@waybill/mail/dkim/Dkim"
import type { ExaminedKey } from "@waybill/store/operations/ExaminedKeys"
import type { Keyring } from "@waybill/store/secrets/InstanceKey"
import { contextOf } from "@waybill/store/secrets/Secrets"
import { Effect, Option, Redacted, Result } from "effect"
import * as Finding from "./Finding.ts"

const found = Finding.of("dkim keys")

/** Maximum number of keys that a finding names. */
const MAX_NAMED = 5

/** Checks that each key that signs mail can be opened and signs, as in a worker. */
export const checkDkimKeys = Effect.fnUntraced(function* (
  keys: ReadonlyArray<ExaminedKey>,
  ring: Option.Option<Keyring>,
  weight: Finding.Severity,
) {
  if (keys.length === 0) return found.skipped("there is no domain yet")
  if (Option.isNone(ring)) return found.skipped("the instance key that opens them is not on this machine")
  const bad = yield* Effect.filter(keys, (key) => Effect.map(signs(key, ring.value), (does) => !does))
  const first = bad.filter(({ is_second }) => !is_second)
  if (first.length > 0)
    return found.problem(
      weight,
      `mail signed by ${named(first)} is deferred: the key cannot be opened or cannot sign`,
      "Set the instance key under which they are sealed on this node (docs/operating/keys.md), or rotate them by POST /v1/domains/{domain}/dkim/rotate and publish the new records.",
    )
  if (bad.length > 0)
    return found.warning(
      `mail is sent without the second signature of ${named(bad)}: the key cannot be opened or cannot sign`,
      "Replace it by POST /v1/domains/{domain}/dkim/ed25519/rotate and publish the new record, or remove it by DELETE /v1/domains/{domain}/dkim/ed25519.",
    )
  return found.ok(`${keys.length} ${keys.length === 1 ? "key opens and signs" : "keys open and sign"}`)
})

const signs = ({ dkim, domain, ref, sealed }: ExaminedKey, ring: Keyring): Effect.Effect<boolean> => {
  if (sealed === null) return Effect.succeed(false)
  const opened = Result.try(() => ring.open(contextOf(ref), sealed))
  if (Result.isFailure(opened)) return Effect.succeed(false)
  const { algorithm, selector } = dkim
  // Not the id that a worker uses, under which a parsed key would be trusted.
  const id = `${ref.account_id} ${ref.id} ${selector} ${Buffer.from(sealed.nonce).toString("hex")}`
  return Dkim.canSign({ id, domain, selector, algorithm, privateKey: Redacted.make(opened.success) })
}

const named = (keys: ReadonlyArray<ExaminedKey>): string => {
  const names = keys.slice(0, MAX_NAMED).map(({ dkim, domain }) => `${dkim.selector}._domainkey.${domain}`)
  const more = keys.length - names.length
  return more === 0 ? names.join(", ") : `${names.join(", ")} and ${more} more`
}
