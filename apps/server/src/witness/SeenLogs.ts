import { sha256, toHex, utf8 } from "@waybill/verify/Bytes"
import { Effect, Schema } from "effect"
import * as fs from "node:fs/promises"
import { join } from "node:path"

/** The memory that a witness has of a log. */
const SeenLog = Schema.Struct({
  origin: Schema.String,
  /** Address of its checkpoint and tiles, as it is known. */
  url: Schema.String,
  /** Keys that the log may sign with. */
  keys: Schema.Array(Schema.String),
  /** The largest checkpoint, with the cosignature of the witness; `null` before the first. */
  checkpoint: Schema.NullOr(Schema.String),
  /** Name of the file with the proof that the log has shown two histories; `null` if none is known. */
  fork: Schema.NullOr(Schema.String),
})
export type SeenLog = typeof SeenLog.Type

const File = Schema.fromJsonString(SeenLog)
const decode = Schema.decodeUnknownEffect(File)
const encode = Schema.encodeSync(File)

const SUFFIX = ".log.json"

/** Hash by which files and addresses name a log. */
export const nameOf = async (origin: string): Promise<string> => toHex(await sha256(utf8(origin)))

/** Reads what was remembered in a folder, which is made if it does not exist. */
export const readAll = Effect.fnUntraced(function* (folder: string) {
  const names = yield* Effect.promise(async () => {
    await fs.mkdir(folder, { recursive: true, mode: 0o700 })
    return (await fs.readdir(folder)).filter((name) => name.endsWith(SUFFIX))
  })
  return yield* Effect.forEach(names, (name) =>
    Effect.flatMap(
      Effect.promise(() => fs.readFile(join(folder, name), "utf8")),
      // A file that cannot be read stops the witness: without what it has signed, it could sign a fork.
      (text) => Effect.orDie(decode(text)),
    ),
  )
})

/**
 * Stores what was seen of a log. It is on the disk when this returns, also after a crash: a signature leaves only then, so
 * that no other history can be signed later.
 */
export const write = (folder: string, seen: SeenLog) =>
  Effect.promise(async () => writeDurably(folder, `${await nameOf(seen.origin)}${SUFFIX}`, encode(seen)))

/** Stores a file under a name in one step, with all of its content or not at all. */
export const writeDurably = async (folder: string, name: string, text: string): Promise<void> => {
  const unfinished = join(folder, `${name}.unfinished`)
  await fs.writeFile(unfinished, text, { mode: 0o600, flush: true })
  await fs.rename(unfinished, join(folder, name))
  const handle = await fs.open(folder, "r")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
