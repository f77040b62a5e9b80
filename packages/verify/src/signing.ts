import { parseVkey, type SignedNote, verifyNote } from "./SignedNote.ts"

/** Those of the keys that have signed a note. Throws for a wrong signature of one of them. */
export const signing = async (note: SignedNote, keys: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  for (const text of keys) {
    const key = await parseVkey(text)
    const { result } = await verifyNote(note, key)
    if (result === "invalid") throw new Error(`the signature of ${key.name} is wrong`)
    if (result === "valid") found.push(text)
  }
  return found
}
