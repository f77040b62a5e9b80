import { parseCheckpoint, parseNote } from "./SignedNote.ts"
import { signing } from "./signing.ts"

/** Opens a checkpoint that a key of its log has signed. Signatures of other keys do not count. Throws what is wrong. */
export const signedCheckpoint = async (text: string, origin: string, keys: ReadonlyArray<string>) => {
  const note = parseNote(text)
  const checkpoint = parseCheckpoint(note.text)
  if (checkpoint.origin !== origin) throw new Error(`it is one of the log ${checkpoint.origin}`)
  const signers = await signing(note, keys)
  if (signers.length === 0) throw new Error("no trusted key of the log has signed it")
  return { note, checkpoint, signers }
}
