import { type Bytes, concat, fromBase64, sha256, toHex, utf8, verifyEd25519 } from "./Bytes.ts"

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
  /** The text that is signed, with its last newline. */
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
const KINDS: ReadonlyArray<Vkey["kind"] | undefined> = [undefined, "log", undefined, undefined, "witness"]
const isName = (name: string): boolean => /^[^\s\u{85}+]+$/u.test(name)

/** Parses a key, `name+id+base64`, and refuses one whose id does not follow from its name and bytes. */
export const parseVkey = async (text: string): Promise<Vkey> => {
  const [, name = "", id = "", encoded = ""] = /^([^+]*)\+([0-9a-f]{8})\+(.*)$/su.exec(text) ?? []
  const bytes = fromBase64(encoded)
  const kind = KINDS[bytes[0] ?? 0]
  if (!isName(name) || kind === undefined || bytes.length !== 33)
    throw new Error("A key is not of the form name+id+base64, or not one of Ed25519.")
  const expected = await sha256(concat(utf8(`${name}\n`), bytes))
  if (!toHex(expected).startsWith(id)) throw new Error(`The key of ${name} does not have the id ${id}.`)
  return { name, id, kind, key: bytes.slice(1) }
}

/** Parses the line of one signature, without its newline. */
export const parseSignature = (line: string): NoteSignature => {
  const [, name = "", encoded = ""] = /^\u{2014} ([^ ]+) ([^ ]+)$/u.exec(line) ?? []
  const bytes = fromBase64(encoded)
  if (!isName(name) || bytes.length < 5) throw new Error("A signature is not of the form — name base64.")
  return { name, id: toHex(bytes.slice(0, 4)), signature: bytes.slice(4) }
}

/** Parses a note. Signatures are only read; `verifyNote` verifies them. */
export const parseNote = (note: string): SignedNote => {
  const end = note.lastIndexOf("\n\n")
  const lines = note.slice(end + 2).split("\n")
  const isClean = note.length <= MAX_NOTE_CHARS && !/[^\P{Cc}\n\u{7f}-\u{9f}]|\p{Surrogate}/u.test(note)
  if (!isClean || end < 0 || lines.pop() !== "" || lines.length === 0 || lines.length > MAX_SIGNATURES)
    throw new Error(`A note is not a text with 1 to ${MAX_SIGNATURES} signatures.`)
  return { text: note.slice(0, end + 1), signatures: lines.map(parseSignature) }
}

/** Parses the text of a note, without its signatures. */
export const parseCheckpoint = (text: string): Checkpoint => {
  const [origin = "", size = "", encoded = "", ...extensions] = text.split("\n")
  const root = fromBase64(encoded)
  const isSize = /^(?:0|[1-9]\d*)$/u.test(size) && Number.isSafeInteger(Number(size))
  if (extensions.pop() !== "" || origin === "" || extensions.includes("") || !isSize || root.length !== 32)
    throw new Error("A checkpoint is not an origin, a size and a root.")
  return { origin, size: Number(size), root, extensions }
}

/** Verifies what a key has signed: the text, or as a witness the time and the text (c2sp.org/tlog-cosignature). */
export const verifyNote = async ({ signatures, text }: SignedNote, key: Vkey): Promise<NoteVerdict> => {
  let verdict: NoteVerdict = { result: "missing" }
  for (const { signature } of signatures.filter(({ id, name }) => id === key.id && name === key.name)) {
    const isWitness = key.kind === "witness"
    if (signature.length !== (isWitness ? 72 : 64)) return { result: "invalid" }
    const time = isWitness ? new DataView(signature.buffer).getBigUint64(0) : undefined
    const message = time === undefined ? text : `cosignature/v1\ntime ${time}\n${text}`
    if (!(await verifyEd25519(key.key, signature.slice(-64), utf8(message)))) return { result: "invalid" }
    verdict = { result: "valid", ...(time === undefined ? {} : { time: Number(time) }) }
  }
  return verdict
}
