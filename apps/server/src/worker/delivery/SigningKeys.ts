import type { DkimKey } from "@waybill/domain/domain/DkimKey"
import * as Domain from "@waybill/domain/domain/Domain"
import * as Dkim from "@waybill/mail/dkim/Dkim"
import type { DomainRecord } from "@waybill/store/readmodels/Domains"
import { Secrets } from "@waybill/store/secrets/Secrets"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { SqlError } from "effect/sql"

/** Opened keys kept in memory. A key never changes under its name, so there is nothing to grow stale. */
export const KEYS = 1_000
/** Keys that don't work and have been told of. */
export const MAX_TOLD = 1_000

const NO_FIRST = "a domain's DKIM key cannot be opened; its mail waits"
const NO_SECOND =
  "a domain's second DKIM key cannot be opened, or cannot sign; its mail goes with the first signature alone"

/** The private keys that sign a domain's mail, opened once. */
export class SigningKeys extends Context.Service<
  SigningKeys,
  {
    /**
     * Empty when the key that the domain is verified by is not to be had; whether mail may go without, others say. What
     * comes behind it has been tried: a second signature is an extra, and no mail waits for it.
     */
    readonly of: (account_id: string, domain: DomainRecord) => Effect.Effect<ReadonlyArray<Dkim.Key>>
  }
>()("@waybill/server/SigningKeys") {
  static readonly layer = Layer.effect(
    SigningKeys,
    Effect.gen(function* () {
      const secrets = yield* Secrets
      const opened = new Map<string, Dkim.Key>()
      const told = new Set<string>()

      const open = Effect.fnUntraced(function* (account_id: string, { domain_id, name }: DomainRecord, dkim: DkimKey) {
        const place = { account_id, id: domain_id, purpose: dkim.key_ref }
        const sealed = yield* Effect.catchDefect(secrets.open(place), (defect) =>
          // What the database has is one thing, and that it cannot be asked now another.
          defect instanceof SqlError.SqlError ? Effect.die(defect) : Effect.succeedNone,
        )
        const { algorithm, selector } = dkim
        return Option.map(sealed, (bytes): Dkim.Key => ({
          id: idOf(account_id, domain_id, dkim),
          domain: name,
          selector,
          algorithm,
          privateKey: Redacted.make(bytes),
        }))
      })

      const keep = (key: Dkim.Key): Dkim.Key => {
        const [oldest] = opened.keys()
        if (opened.size >= KEYS && oldest !== undefined) opened.delete(oldest)
        opened.set(key.id, key)
        return key
      }

      /** Of each key once: what is wrong with one mail's is wrong with the next one's. */
      const tell = (words: string, id: string, { name }: DomainRecord, { selector }: DkimKey) =>
        Effect.suspend(() => {
          if (told.has(id)) return Effect.void
          const [oldest] = told
          if (told.size >= MAX_TOLD && oldest !== undefined) told.delete(oldest)
          told.add(id)
          return Effect.logWarning(words, { domain: name, selector })
        })

      const first = Effect.fnUntraced(function* (account_id: string, domain: DomainRecord, dkim: DkimKey) {
        const id = idOf(account_id, domain.domain_id, dkim)
        const known = opened.get(id)
        if (known !== undefined) return known
        const found = yield* open(account_id, domain, dkim)
        if (Option.isSome(found)) return keep(found.value)
        yield* tell(NO_FIRST, id, domain, dkim)
        return undefined
      })

      const second = Effect.fnUntraced(function* (account_id: string, domain: DomainRecord, dkim: DkimKey) {
        const id = idOf(account_id, domain.domain_id, dkim)
        const known = opened.get(id)
        if (known !== undefined) return [known]
        const found = yield* open(account_id, domain, dkim)
        if (Option.isSome(found) && (yield* Dkim.canSign(found.value))) return [keep(found.value)]
        yield* tell(NO_SECOND, id, domain, dkim)
        return []
      })

      return SigningKeys.of({
        of: Effect.fnUntraced(function* (account_id: string, domain: DomainRecord) {
          const [dkim, ...more] = Domain.signingKeys(domain)
          const key = yield* first(account_id, domain, dkim)
          // Alone, the second would say nothing to the many who check only the first.
          if (key === undefined) return []
          return [key, ...(yield* Effect.forEach(more, (each) => second(account_id, domain, each))).flat()]
        }),
      })
    }),
  )
}

/** Not by the selector: a log that lost its end, in a failover or a restore, gives it to another key. */
const idOf = (account_id: string, domain_id: string, { key_ref }: DkimKey) => `${account_id} ${domain_id} ${key_ref}`
