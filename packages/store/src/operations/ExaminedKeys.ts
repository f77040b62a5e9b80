import type { DkimKey } from "@waybill/domain/domain/DkimKey"
import * as Domain from "@waybill/domain/domain/Domain"
import { Effect } from "effect"
import type { DomainRecord } from "../readmodels/Domains.ts"
import type { Sealed } from "../secrets/InstanceKey.ts"
import type { SecretRef } from "../secrets/Secrets.ts"

/** Maximum number of domains whose keys are examined; opening and trying a key takes one or two milliseconds. */
export const MAX_DOMAINS_EXAMINED = 1_000

/** A DKIM key that signs mail now, according to the database. */
export interface ExaminedKey {
  readonly ref: SecretRef
  readonly domain: string
  readonly dkim: DkimKey
  /** Whether another key of the domain signs before it, so that mail is sent even without this one. */
  readonly is_second: boolean
  /** Sealed private key; null if it is missing. */
  readonly sealed: Sealed | null
}

export type RunQuery<E> = <Row extends object>(
  text: string,
  values?: ReadonlyArray<unknown>,
) => Effect.Effect<ReadonlyArray<Row>, E>

/**
 * Reads the keys without the services of a node, which would create a missing instance key. Leaves out accounts that are in
 * another cell.
 */
export const read = Effect.fnUntraced(function* <E>(query: RunQuery<E>, strays: ReadonlyArray<string>) {
  const domains = yield* query<{ readonly account_id: string; readonly record: DomainRecord }>(
    "SELECT account_id, record FROM domains WHERE NOT removed AND account_id <> ALL($2::text[]) ORDER BY account_id, id LIMIT $1::int",
    [MAX_DOMAINS_EXAMINED, strays],
  )
  const keys = domains.flatMap(({ account_id, record }) =>
    Domain.signingKeys(record).map((dkim, nth): Omit<ExaminedKey, "sealed"> => ({
      ref: { account_id, id: record.domain_id, purpose: dkim.key_ref },
      domain: record.name,
      dkim,
      is_second: nth > 0,
    })),
  )
  const secrets = yield* query<SecretRef & Sealed>(
    `SELECT account_id, id, purpose, key_id, nonce, ciphertext FROM secrets
        JOIN unnest($1::text[], $2::text[], $3::text[]) AS wanted(account_id, id, purpose) USING (account_id, id, purpose)`,
    (["account_id", "id", "purpose"] as const).map((part) => keys.map((key) => key.ref[part])),
  )
  const sealed = new Map(secrets.map((each) => [nameOf(each), each]))
  return keys.map((key): ExaminedKey => ({ ...key, sealed: sealed.get(nameOf(key.ref)) ?? null }))
})

const nameOf = ({ account_id, id, purpose }: SecretRef) => `${account_id} ${id} ${purpose}`
