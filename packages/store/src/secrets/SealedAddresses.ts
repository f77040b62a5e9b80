import { Effect, Layer, Redacted } from "effect"
import type { Sql } from "../postgres/Sql.ts"
import { CellKeys, type SealedUrl } from "../routing/CellKeys.ts"
import { InstanceKey, type Keyring } from "./InstanceKey.ts"

const contextOf = (identity: string) => ["cell", identity]

const seal = (keys: Keyring, identity: string, url: Redacted.Redacted): SealedUrl => {
  const sealed = keys.seal(contextOf(identity), Buffer.from(Redacted.value(url)))
  return {
    key_id: sealed.key_id,
    nonce: Buffer.from(sealed.nonce).toString("base64"),
    ciphertext: Buffer.from(sealed.ciphertext).toString("base64"),
  }
}

const open = (keys: Keyring, identity: string, { ciphertext, key_id, nonce }: SealedUrl): Redacted.Redacted =>
  Redacted.make(
    Buffer.from(
      keys.open(contextOf(identity), {
        key_id,
        nonce: Buffer.from(nonce, "base64"),
        ciphertext: Buffer.from(ciphertext, "base64"),
      }),
    ).toString(),
  )

export const of = (keys: Keyring) => ({
  seal: (identity: string, url: Redacted.Redacted) => seal(keys, identity, url),
  open: (identity: string, sealed: SealedUrl) => open(keys, identity, sealed),
})

/** Seals the addresses of cells with the instance key. */
export const layer = Layer.effect(CellKeys, Effect.map(InstanceKey, of))

/** Seals the addresses of cells with the current key. */
export const sealAgain = Effect.fnUntraced(function* (sql: Sql) {
  const { open, seal } = yield* CellKeys
  const rows = yield* sql<{ readonly identity: string; readonly address: SealedUrl }>`
    SELECT identity::text AS identity, address FROM cells WHERE address IS NOT NULL FOR UPDATE`
  for (const { address, identity } of rows) {
    const sealed = JSON.stringify(seal(identity, open(identity, address)))
    yield* sql`UPDATE cells SET address = ${sealed}::jsonb WHERE identity = ${identity}::uuid`
  }
  if (rows.length > 0) yield* sql`SELECT nextval('cell_change') AS change`
})
