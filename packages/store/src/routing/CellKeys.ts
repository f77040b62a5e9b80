import { Context, type Redacted } from "effect"

/** The URL of a cell's server, sealed with the instance key, as the directory of cells holds it. */
export interface SealedUrl {
  readonly key_id: string
  /** In base64. */
  readonly nonce: string
  readonly ciphertext: string
}

/** A server of a cell's own: any Postgres that has an address. */
export interface CellServer {
  /** Mark of the database, so that no other one is taken for it. */
  readonly identity: string
  readonly url: Redacted.Redacted
}

export interface CellKeysShape {
  readonly seal: (identity: string, url: Redacted.Redacted) => SealedUrl
  readonly open: (identity: string, sealed: SealedUrl) => Redacted.Redacted
}

const absent = (): never => {
  throw new Error("the addresses of cells cannot be read without the instance key")
}

/** Seals and opens the addresses of cells. */
export const CellKeys = Context.Reference<CellKeysShape>("@waybill/store/routing/CellKeys", {
  defaultValue: () => ({ seal: absent, open: absent }),
})
