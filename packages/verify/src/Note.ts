import { type Bytes, areEqual, concat, fromBase64, sha256, toHex, utf8, verifyEd25519 } from "./Bytes.ts"

/** A key that verifies notes: of a log, or of a witness that cosigns checkpoints. */
export interface Vkey {
  readonly name: string
  /** Eight hexadecimal digits. */
  readonly id: string
  readonly kind: "log" | "witness"
  readonly key: Bytes
}

export interface NoteSignature {
  readonly name: string
  readonly id: string
  readonly signature: Bytes
}

/** A signed note (c2sp.org/signed-note). */
export interface SignedNote {
  /** What is signed, with its last newline. */
  readonly text: string
  readonly signatures: ReadonlyArray<NoteSignature>
}

/** A checkpoint (c2sp.org/tlog-checkpoint). */
export interface Checkpoint {
  readonly origin: string
  readonly size: number
  readonly root: Bytes
  readonly extensions: ReadonlyArray<string>
}

export interface NoteVerdict {
  /** `missing` if the note has no signature of the key. */
  readonly result: "valid" | "invalid" | "missing"
  /** Seconds since 1970 at which a witness signed. */
  readonly time?: number
}

const MAX_NOTE_CHARS = 256 * 1024
const MAX_SIGNATURES = 64
const KINDS = new Map<number | undefined, Vkey["kind"]>([
  [1, "log"],
  [4, "witness"],
])
const isName = (name: string): boolean => /^[^\s+\p{Cc}\u{85}]+$/u.test(name)

/** Parses a key, `name+id+base64`, and refuses one whose id does not follow from its name and bytes. */
export const parseVkey = async (text: string): Promise<Vkey> => {
  const [, name = "", id = "", encoded = ""] = /^([^+]*)\+([0-9a-f]{8})\+(.*)$/su.exec(text) ?? []
  if (!isName(name)) throw new Error("a key is not of the form name+id+base64")
  const bytes = fromBase64(encoded)
  const kind = KINDS.get(bytes[0])
  if (kind === undefined || bytes.length !== 33) throw new Error("a key is not one of Ed25519, for a log or a witness")
  const expected = (await sha256(concat(utf8(`${name}\n`), bytes))).subarray(0, 4)
  if (toHex(expected) !== id) throw new Error(`the key of ${name} does not have the id ${id}`)
  return { name, id, kind, key: bytes.slice(1) }
}

/** Parses the line of one signature, without its newline. */
export const parseSignature = (line: string): NoteSignature => {
  const [, name = "", encoded = ""] = /^\u{2014} ([^ ]+) ([^ ]+)$/u.exec(line) ?? []
  if (!isName(name)) throw new Error("a signature is not of the form — name base64")
  const bytes = fromBase64(encoded)
  if (bytes.length < 5) throw new Error(`the signature of ${name} is empty`)
  return { name, id: toHex(bytes.subarray(0, 4)), signature: bytes.slice(4) }
}

export const parseNote = (note: string): SignedNote => {
  if (note.length > MAX_NOTE_CHARS) throw new Error(`a note is longer than ${MAX_NOTE_CHARS} characters`)
  // eslint-disable-next-line no-control-regex
  if (/[\u{0}-\u{9}\u{b}-\u{1f}\p{Surrogate}]/u.test(note)) throw new Error("a note has a character that is not allowed")
  const end = note.lastIndexOf("\n\n")
  const lines = note.slice(end + 2).split("\n")
  if (end < 0 || lines.pop() !== "" || lines.length === 0) throw new Error("a note does not end in signatures")
  if (lines.length > MAX_SIGNATURES) throw new Error(`a note has more than ${MAX_SIGNATURES} signatures`)
  return { text: note.slice(0, end + 1), signatures: lines.map(parseSignature) }
}

/** Parses the text of a note, without its signatures. */
export const parseCheckpoint = (text: string): Checkpoint => {
  const [origin = "", size = "", root = "", ...rest] = text.split("\n")
  const extensions = rest.slice(0, -1)
  if (rest.at(-1) !== "" || origin === "" || extensions.includes("")) throw new Error("a checkpoint has an empty line")
  if (!/^(?:0|[1-9]\d*)$/u.test(size) || !Number.isSafeInteger(Number(size)))
    throw new Error("the size of a checkpoint is not a number")
  const hash = fromBase64(root)
  if (hash.length !== 32) throw new Error("the root of a checkpoint is not a hash of SHA-256")
  return { origin, size: Number(size), root: hash, extensions }
}

/** Verifies what a key has signed of a note: its text, or as a witness the time and the text (c2sp.org/tlog-cosignature). */
export const verifyNote = async ({ signatures, text }: SignedNote, key: Vkey): Promise<NoteVerdict> => {
  const own = signatures.filter(({ id, name }) => id === key.id && name === key.name)
  const times: Array<number> = []
  for (const { signature } of own) {
    const time = key.kind === "log" ? undefined : timeOf(signature)
    const message = time === undefined ? text : `cosignature/v1\ntime ${time}\n${text}`
    const bytes = time === undefined ? signature : signature.slice(8)
    if (bytes.length !== 64 || !(await verifyEd25519(key.key, bytes, utf8(message)))) return { result: "invalid" }
    if (time !== undefined) times.push(Number(time))
  }
  if (own.length === 0) return { result: "missing" }
  return { result: "valid", ...(times.length === 0 ? {} : { time: Math.max(...times) }) }
}

const timeOf = (signature: Bytes): bigint | undefined =>
  signature.length === 72 ? new DataView(signature.buffer, signature.byteOffset).getBigUint64(0) : 0n

/** Whether two keys are the same. */
export const areSame = (one: Vkey, other: Vkey): boolean =>
  one.name === other.name && one.id === other.id && areEqual(one.key, other.key)
