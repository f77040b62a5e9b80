import type { DkimKey } from "@waybill/domain/DkimKey"
import * as Domain from "@waybill/domain/Domain"
import type * as Dkim from "@waybill/mail/Dkim"
import type { DomainRecord } from "@waybill/store/Domains"
import { Secrets } from "@waybill/store/Secrets"
import { Context, Effect, Layer, Option, Redacted } from "effect"

/** Opened keys kept in memory. A key never changes under its name, so there is nothing to grow stale. */
export const KEYS = 1_000

/** The private keys that sign a domain's mail, opened once. */
export class SigningKeys extends Context.Service<
  SigningKeys,
  {
    /** Empty when the key that the domain is verified by is not to be had; whether mail may go without, others say. */
    readonly of: (account_id: string, domain: DomainRecord) => Effect.Effect<ReadonlyArray<Dkim.Key>>
  }
>()("@waybill/server/SigningKeys") {
  static readonly layer = Layer.effect(
    SigningKeys,
    Effect.gen(function* () {
      const secrets = yield* Secrets
      const opened = new Map<string, Dkim.Key>()
      const open = Effect.fnUntraced(function* (account_id: string, { domain_id, name }: DomainRecord, dkim: DkimKey) {
        const id = `${account_id} ${domain_id} ${dkim.selector}`
        const known = opened.get(id)
        if (known !== undefined) return known
        const sealed = yield* secrets.open({ account_id, id: domain_id, purpose: dkim.key_ref })
        if (Option.isNone(sealed)) return undefined
        const { algorithm, selector } = dkim
        const key: Dkim.Key = { id, domain: name, selector, algorithm, privateKey: Redacted.make(sealed.value) }
        const [oldest] = opened.keys()
        if (opened.size >= KEYS && oldest !== undefined) opened.delete(oldest)
        opened.set(id, key)
        return key
      })
      return SigningKeys.of({
        of: Effect.fnUntraced(function* (account_id: string, domain: DomainRecord) {
          const [first, ...more] = yield* Effect.forEach(Domain.signingKeys(domain), (key) =>
            open(account_id, domain, key),
          )
          // A second signature is an extra; alone, it would say nothing to the many who check only the first.
          return first === undefined ? [] : [first, ...more.filter((key) => key !== undefined)]
        }),
      })
    }),
  )
}
