import { Schema } from "effect"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import * as TemplateFolder from "./TemplateFolder.ts"

// The file keeps what `pull` and `push` saw last in each account, so that a push notices a change that somebody made there since. It belongs
// to this machine, and not to the repository.

const FILE = ".waybill-state.json"

const State = Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.String))
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(State))

/** Returns the etags of the templates of an account by alias, as they were seen last. */
export const read = async (root: string, account: string): Promise<Readonly<Record<string, string>>> =>
  (await all(root))[account] ?? {}

const all = async (root: string): Promise<typeof State.Type> => {
  const text = await TemplateFolder.readText(join(root, FILE))
  const decoded = decode(text ?? "{}")
  return decoded._tag === "Some" ? decoded.value : {}
}

/** Keeps etags beside those that are known. */
export const keep = async (root: string, account: string, etags: Readonly<Record<string, string>>): Promise<void> => {
  const known = await all(root)
  const state = { ...known, [account]: { ...known[account], ...etags } }
  await fs.writeFile(join(root, FILE), `${JSON.stringify(state, null, 2)}\n`)
}
