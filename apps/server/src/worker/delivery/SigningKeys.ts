import type { DkimKey } from "@waybill/domain/domain/DkimKey"
import * as Domain from "@waybill/domain/domain/Domain"
import { LruCache } from "@waybill/runtime/collections/LruCache"
import * as Dkim from "@waybill/mail/dkim/Dkim"
import type { DomainRecord } from "@waybill/store/readmodels/Domains"
import { Secrets } from "@waybill/store/secrets/Secrets"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"

/** Maximum number of opened keys kept in memory. A key never changes under its id, so none becomes stale. */
export const MAX_OPENED_KEYS = 1_000
/** Maximum number of unusable keys that are remembered, so that each is logged once. */
export const MAX_LOGGED_KEYS = 1_000

const NO_FIRST_KEY = "DKIM key of a domain cannot be opened; its mail is deferred"
const NO_SECOND_KEY =
  "second DKIM key of a domain cannot be opened or cannot sign; its mail is signed by the first only"

/** Opens the private keys that sign a domain's mail, each once. */
export class SigningKeys extends Context.Service<
  SigningKeys,
  {
    /**
     * Returns the domain's keys: none if its first key cannot be opened, and the second only if it can sign. Mail never
     * waits for a second signature.
     */
    readonly of: (account_id: string, domain: DomainRecord) => Effect.Effect<ReadonlyArray<Dkim.Key>, StoreUnavailable>
  }
>()("@waybill/server/worker/delivery/SigningKeys") {
  static readonly layer = Layer.effect(
    SigningKeys,
    Effect.gen(function* () {
      const secrets = yield* Secrets
      const opened = new LruCache<string, Dkim.Key>({ maxEntries: MAX_OPENED_KEYS })
      const logged = new LruCache<string, true>({ maxEntries: MAX_LOGGED_KEYS })

      const open = Effect.fnUntraced(function* (account_id: string, { domain_id, name }: DomainRecord, dkim: DkimKey) {
        const secretKey = { account_id, id: domain_id, purpose: dkim.key_ref }
        const bytes = yield* Effect.catchDefect(secrets.open(secretKey), () => Effect.succeedNone)
        const { algorithm, selector } = dkim
        return Option.map(bytes, (bytes): Dkim.Key => ({
          id: idOf(account_id, domain_id, dkim),
          domain: name,
          selector,
          algorithm,
          privateKey: Redacted.make(bytes),
        }))
      })

      const keyOf = Effect.fnUntraced(function* (
        account_id: string,
        domain: DomainRecord,
        dkim: DkimKey,
        isFirst: boolean,
      ) {
        const id = idOf(account_id, domain.domain_id, dkim)
        const cached = opened.get(id)
        if (cached !== undefined) return cached
        const key = Option.getOrUndefined(yield* open(account_id, domain, dkim))
        if (key !== undefined && (isFirst || (yield* Dkim.canSign(key)))) {
          opened.set(id, key)
          return key
        }
        if (logged.get(id) === true) return undefined
        logged.set(id, true)
        const { selector } = dkim
        yield* Effect.logWarning(isFirst ? NO_FIRST_KEY : NO_SECOND_KEY, { domain: domain.name, selector })
        return undefined
      })

      const read = Effect.fnUntraced(function* (account_id: string, domain: DomainRecord) {
        const [dkim, ...more] = Domain.signingKeys(domain)
        const key = yield* keyOf(account_id, domain, dkim, true)
        // Many receivers check only the first key, so mail is not signed by the second alone.
        if (key === undefined) return []
        const others = yield* Effect.forEach(more, (each) => keyOf(account_id, domain, each, false))
        return [key, ...others.flatMap((other) => other ?? [])]
      })

      return SigningKeys.of({
        of: (account_id, domain) => {
          const keys: Array<Dkim.Key> = []
          for (const dkim of Domain.signingKeys(domain)) {
            const key = opened.get(idOf(account_id, domain.domain_id, dkim))
            if (key === undefined) return read(account_id, domain)
            keys.push(key)
          }
          return Effect.succeed(keys)
        },
      })
    }),
  )
}

/** Identifies a key by its secret, since a log that lost its end in a failover may give a selector to another key. */
const idOf = (account_id: string, domain_id: string, { key_ref }: DkimKey) => `${account_id} ${domain_id} ${key_ref}`
