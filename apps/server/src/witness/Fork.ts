import { type Bytes, concat, toBase64 } from "@waybill/verify/Bytes"
import {
  type Checkpoint,
  type NoteSignature,
  parseCheckpoint,
  parseNote,
  type SignedNote,
} from "@waybill/verify/SignedNote"
import { DateTime, Effect } from "effect"
import { randomBytes } from "node:crypto"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import * as SeenLogs from "./SeenLogs.ts"

/**
 * Two checkpoints that a log has signed and that do not belong to one history. `proof` shows that the tree of the larger one
 * has `root` at the size of the smaller one, whose own root is another.
 */
export interface Fork {
  readonly smaller: SignedNote
  readonly larger: SignedNote
  readonly root: Bytes
  readonly proof: ReadonlyArray<Bytes>
}

/** Stores the proof that a log has forked, which anybody can check, and returns the name of its file. */
export const write = Effect.fnUntraced(function* (folder: string, seen: SeenLogs.SeenLog, fork: Fork) {
  const found_at = DateTime.formatIso(yield* DateTime.now)
  const text = JSON.stringify(
    {
      object: "fork",
      origin: seen.origin,
      url: seen.url,
      found_at,
      keys: seen.keys,
      smaller: textOf(fork.smaller),
      larger: textOf(fork.larger),
      root_in_larger: toBase64(fork.root),
      proof: fork.proof.map(toBase64),
    },
    null,
    2,
  )
  const name = `fork-${randomBytes(6).toString("hex")}.json`
  yield* Effect.promise(() => SeenLogs.writeDurably(folder, name, `${text}\n`))
  return name
})

/** Says which log has shown two histories: sizes, roots, and the file with the proof. */
export const logRefusal = (seen: SeenLogs.SeenLog, folder: string) =>
  Effect.gen(function* () {
    const file = join(folder, seen.fork ?? "")
    const fork = yield* Effect.promise(() =>
      fs.readFile(file, "utf8").then(
        (text) =>
          JSON.parse(text) as { readonly smaller: string; readonly larger: string; readonly root_in_larger: string },
        () => undefined,
      ),
    )
    const of = (note: string | undefined) =>
      note === undefined ? null : described(parseCheckpoint(parseNote(note).text))
    yield* Effect.logError("log has shown two histories; nothing of it is signed any more", {
      origin: seen.origin,
      url: seen.url,
      smaller: of(fork?.smaller),
      larger: of(fork?.larger),
      root_in_larger: fork?.root_in_larger ?? null,
      proof: file,
    })
  })

/** A checkpoint in a log line. */
export const described = ({ root, size }: Checkpoint) => ({ size, root: toBase64(root) })

export const textOf = ({ signatures, text }: SignedNote): string => `${text}\n${signatures.map(lineOf).join("")}`

const HEX_DIGITS = 2

export const lineOf = ({ id, name, signature }: NoteSignature): string => {
  const key = Uint8Array.from({ length: id.length / HEX_DIGITS }, (_, nth) =>
    Number.parseInt(id.slice(nth * HEX_DIGITS, (nth + 1) * HEX_DIGITS), 16),
  )
  return `\u2014 ${name} ${toBase64(concat(key, signature))}\n`
}
