import * as MerkleTree from "@waybill/store/transparency/MerkleTree"
import * as TilePath from "@waybill/store/transparency/TilePath"
import * as TreeAudit from "@waybill/store/transparency/TreeAudit"
import { signedCheckpoint } from "@waybill/verify/signedCheckpoint"
import { Duration, Effect, Schema } from "effect"
import { CheckDiffers } from "../../process/CommandRefused.ts"

/** Time for one answer, and its longest. */
const ANSWER_WITHIN = Duration.seconds(30)
const MAX_ANSWER_BYTES = 4 * 1024 * 1024
/** The path of a log below the address of its instance. */
const PREFIX = /\/log(?:\/cells\/[a-z0-9_]+)?$/u
const TILES_AT_ONCE = 8

const Log = Schema.Struct({ origin: Schema.String, keys: Schema.Array(Schema.String), url: Schema.String })
const WellKnown = Schema.Struct({ ...Log.fields, cells: Schema.optionalKey(Schema.Array(Log)) })
type Log = typeof Log.Type

/** A log has more tiles than an address may read in a minute, so the reader waits as long as the answer says. */
const TOO_MANY = 429
const MAX_WAITS = 10
const MAX_WAIT_SECONDS = 60

/** Reads an answer, or the seconds after which to ask again. */
const ask = (url: string) =>
  Effect.tryPromise({
    try: async () => {
      const signal = AbortSignal.timeout(Duration.toMillis(ANSWER_WITHIN))
      // A redirect could lead to an address that only this machine reaches.
      const response = await fetch(url, { signal, redirect: "manual" })
      if (response.status === TOO_MANY) {
        await response.body?.cancel()
        return Math.min(Number(response.headers.get("retry-after") ?? MAX_WAIT_SECONDS) || 0, MAX_WAIT_SECONDS)
      }
      if (!response.ok) throw new Error(`the answer is ${response.status}`)
      const chunks: Array<Uint8Array> = []
      let length = 0
      for await (const chunk of response.body ?? []) {
        length += chunk.length
        // Ends the answer too, which may have no end.
        if (length > MAX_ANSWER_BYTES) throw new Error("the answer is too long")
        chunks.push(chunk)
      }
      return new Uint8Array(Buffer.concat(chunks))
    },
    catch: (cause) =>
      new CheckDiffers({ message: `${url}: ${cause instanceof Error ? cause.message : String(cause)}` }),
  })

const get = Effect.fnUntraced(function* (url: string) {
  for (let waits = 0; waits <= MAX_WAITS; waits++) {
    const answer = yield* ask(url)
    if (typeof answer !== "number") return answer
    yield* Effect.sleep(Duration.seconds(answer))
  }
  return yield* new CheckDiffers({ message: `${url}: the answer is ${TOO_MANY}, again and again` })
})

/** Reads where the logs of an instance are, and their keys. */
export const find = Effect.fnUntraced(function* (url: string) {
  const address = url.replace(/\/$/u, "")
  const bytes = yield* get(`${address}/.well-known/waybill-log.json`)
  const read = Schema.decodeUnknownEffect(Schema.fromJsonString(WellKnown))(new TextDecoder().decode(bytes))
  const { cells = [], ...first } = yield* Effect.mapError(
    read,
    () => new CheckDiffers({ message: `${url} says nothing of a log that can be read` }),
  )
  // Read at the address that was given, which may be another one than the instance knows of itself.
  return [first, ...cells].map((log) => ({ ...log, url: `${address}${PREFIX.exec(log.url)?.[0] ?? ""}` }))
})

/** Reads all hashes of a log and compares them with its signed head. */
export const verify = Effect.fnUntraced(function* ({ keys, origin, url }: Log, pinned: ReadonlyArray<string>) {
  const refuse = (message: string) => new CheckDiffers({ message: `${origin}: ${message}` })
  const note = new TextDecoder().decode(yield* get(`${url}/checkpoint`))
  const trusted = (pinned.length > 0 ? pinned : keys).filter((key) => key.startsWith(`${origin}+`))
  const { checkpoint } = yield* Effect.tryPromise({
    try: () => signedCheckpoint(note, origin, trusted),
    catch: (cause) => refuse(`its checkpoint is refused: ${(cause as Error).message}`),
  })
  const { root, size } = checkpoint
  const read = Effect.fnUntraced(function* (key: MerkleTree.TileKey) {
    const width = Math.min(MerkleTree.TILE_WIDTH, MerkleTree.widthOf(size, key.level) - key.n * MerkleTree.TILE_WIDTH)
    return [MerkleTree.keyOf(key), yield* get(`${url}/${TilePath.of({ ...key, width })}`)] as const
  })
  const tree = yield* TreeAudit.recompute(size, (tiles) =>
    Effect.map(Effect.forEach(tiles, read, { concurrency: TILES_AT_ONCE }), (read) => new Map(read)),
  )
  const [differing] = tree.differing
  if (differing !== undefined) return yield* refuse(`the tile ${MerkleTree.keyOf(differing)} is not that of its leaves`)
  if (Buffer.compare(tree.root, root) !== 0)
    return yield* refuse("its leaves do not lead to the root of its checkpoint")
  return { origin, size, root: Buffer.from(root).toString("base64") }
})
