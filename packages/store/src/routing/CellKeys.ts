import { Context, type Redacted } from "effect"

/** The URL of a cell's server, sealed with the instance key, as the directory of cells holds it. */
export interface SealedUrl {
  readonly key_id: string
  /** In base64. */
  readonly nonce: string
  readonly ciphertext: string
}

/** The server that a process talks to for a cell: a Postgres of the cell's own, or the node of Citus that holds it. */
export interface CellServer {
  /** Mark of the database, so that no other one is taken for it; for a node, its group. */
  readonly identity: string
  readonly url: Redacted.Redacted
  /** Schema of the cell's tables there. */
  readonly schema: string
  /** Whether it is a node of Citus, whose tables are changed by statements of the coordinator alone. */
  readonly isNode: boolean
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
