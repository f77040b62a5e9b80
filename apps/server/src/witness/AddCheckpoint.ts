import { type Bytes, fromBase64, toBase64 } from "@waybill/verify/Bytes"

/** A request for a cosignature of a checkpoint (c2sp.org/tlog-witness). */
export interface AddCheckpoint {
  /** Size of the tree that the witness has cosigned last. */
  readonly old: number
  /** Hashes that prove that the checkpoint extends that tree. */
  readonly proof: ReadonlyArray<Bytes>
  /** The checkpoint, as a signed note. */
  readonly note: string
}

export const PATH = "/add-checkpoint"
/** Type of the answer that only names the size which the witness knows. */
export const SIZE_TYPE = "text/x.tlog.size"
const MAX_HASHES = 63
const HASH_BYTES = 32

export const encode = ({ note, old, proof }: AddCheckpoint): string =>
  `old ${old}\n${proof.map((hash) => `${toBase64(hash)}\n`).join("")}\n${note}`

/** Reads the body of a request; undefined if it does not have its form. */
export const decode = (body: string): AddCheckpoint | undefined => {
  const end = body.indexOf("\n\n")
  const [first = "", ...lines] = body.slice(0, Math.max(end, 0)).split("\n")
  const [, old = ""] = /^old (0|[1-9]\d{0,15})$/u.exec(first) ?? []
  if (old === "" || !Number.isSafeInteger(Number(old)) || lines.length > MAX_HASHES) return undefined
  try {
    const proof = lines.map(fromBase64)
    return proof.every(({ length }) => length === HASH_BYTES)
      ? { old: Number(old), proof, note: body.slice(end + 2) }
      : undefined
  } catch {
    return undefined
  }
}
