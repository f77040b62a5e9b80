import * as MerkleTree from "./MerkleTree.ts"

/** The head of a log (c2sp.org/tlog-checkpoint), to be signed as a note. */
export interface Checkpoint {
  readonly origin: string
  readonly size: number
  readonly root: Uint8Array
  /** Further lines. The only one that this service writes names the log which a log continues. */
  readonly extensions: ReadonlyArray<string>
}

export const textOf = ({ extensions, origin, root, size }: Checkpoint): string =>
  [origin, String(size), Buffer.from(root).toString("base64"), ...extensions, ""].join("\n")

/** Reads the text of a checkpoint; undefined if it is none. */
export const parse = (text: string): Checkpoint | undefined => {
  const [origin = "", size = "", root = "", ...extensions] = text.split("\n")
  if (extensions.pop() !== "" || origin === "" || extensions.includes("")) return undefined
  const hash = Buffer.from(root, "base64")
  if (hash.length !== MerkleTree.HASH_BYTES || hash.toString("base64") !== root) return undefined
  if (!/^(?:0|[1-9]\d{0,15})$/u.test(size) || !Number.isSafeInteger(Number(size))) return undefined
  return { origin, size: Number(size), root: hash, extensions }
}
