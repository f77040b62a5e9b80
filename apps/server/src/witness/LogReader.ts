import type * as Network from "@waybill/mail/dns/Network"
import * as PinnedRequest from "@waybill/mail/dns/PinnedRequest"
import * as MerkleTree from "@waybill/store/transparency/MerkleTree"
import * as TilePath from "@waybill/store/transparency/TilePath"
import { verifyConsistency } from "@waybill/verify/MerkleProof"
import { type Checkpoint, parseVkey } from "@waybill/verify/SignedNote"
import { Data, Duration, Effect, Schema } from "effect"

/** Time for an answer of a log. */
export const READ_TIMEOUT = Duration.seconds(10)
/** Maximum bytes of an answer, with its head and TLS. */
export const READ_WIRE_BYTES = 256 * 1024
const CONCURRENT_TILES = 4
const WELL_KNOWN = "/.well-known/waybill-log.json"
const PATH = /\/(log(?:\/cells\/[a-z0-9_]{1,40})?)$/u
const MAX_ORIGIN_CHARS = 512

/** The log gave no answer, or one that cannot be used. */
export class LogUnreadable extends Data.TaggedError("LogUnreadable")<{ readonly message: string }> {}

const MAX_CELLS = 100
const MAX_KEYS = 64

const described = {
  // The name of a key, and the label of a metric: no spaces, and nothing that is written as an escape.
  origin: Schema.String.check(Schema.isMaxLength(MAX_ORIGIN_CHARS), Schema.isPattern(/^[^\s+"\\\p{Cc}\p{Cs}]+$/u)),
  keys: Schema.Array(Schema.Union([Schema.String, Schema.Struct({ key: Schema.String })])).check(
    Schema.isMaxLength(MAX_KEYS),
  ),
  /** Where the log is; absent for the first one of an instance. */
  url: Schema.optionalKey(Schema.String),
}
const decodeDescription = Schema.decodeUnknownEffect(
  Schema.fromJsonString(
    Schema.Struct({
      ...described,
      cells: Schema.optionalKey(Schema.Array(Schema.Struct(described)).check(Schema.isMaxLength(MAX_CELLS))),
    }),
  ),
)

/** A log of an instance. */
export interface LogDescription {
  readonly origin: string
  /** Keys that sign now. */
  readonly keys: ReadonlyArray<string>
  /** Address of its checkpoint and tiles. */
  readonly url: string
}

const get = Effect.fnUntraced(function* (url: string, allowed: Network.Networks) {
  const options = { allowed, timeout: READ_TIMEOUT, max_bytes: READ_WIRE_BYTES }
  const { body, status } = yield* Effect.mapError(
    PinnedRequest.send(url, options),
    ({ message }) => new LogUnreadable({ message: `${url}: ${message}` }),
  )
  if (status !== 200) return yield* new LogUnreadable({ message: `${url} was answered with the status ${status}` })
  return body
})

/** Reads what an instance says of its logs: one for each of its cells. */
export const describe = Effect.fnUntraced(function* (instance: string, allowed: Network.Networks) {
  const text = yield* get(`${instance}${WELL_KNOWN}`, allowed)
  const { cells = [], ...first } = yield* Effect.mapError(
    decodeDescription(text.toString("utf8")),
    () => new LogUnreadable({ message: `${instance}${WELL_KNOWN} does not describe a log` }),
  )
  return yield* Effect.forEach([first, ...cells], ({ keys, origin, url = `${instance}/log` }) =>
    Effect.tryPromise({
      try: async (): Promise<LogDescription> => {
        // Only the path is of the instance: it names no other host, and may be known by another name here.
        const [, path] = PATH.exec(url) ?? []
        if (path === undefined) throw new Error(`names the address ${url}, which is not one of a log`)
        const current = keys.filter((key) => typeof key === "string")
        for (const { kind, name } of await Promise.all(current.map(parseVkey)))
          if (name !== origin || kind !== "log") throw new Error(`names a key that is not one of the log ${origin}`)
        return { origin, keys: current, url: `${instance}/${path}` }
      },
      catch: (cause) => new LogUnreadable({ message: `${instance}${WELL_KNOWN}: ${(cause as Error).message}` }),
    }),
  )
})

/** Reads the newest checkpoint of a log. */
export const checkpoint = ({ url }: LogDescription, allowed: Network.Networks) =>
  Effect.map(get(`${url}/checkpoint`, allowed), (body) => body.toString("utf8"))

/**
 * Reads the tiles of the larger of two trees, and returns the root that it has at the size of the smaller one, with a proof
 * that this root leads to its own. Fails if the tiles are not those of the larger tree.
 */
export const compare = Effect.fnUntraced(function* (
  url: string,
  smaller: Checkpoint,
  larger: Checkpoint,
  allowed: Network.Networks,
) {
  if (smaller.size === 0 || smaller.size === larger.size) return { root: Uint8Array.from(larger.root), proof: [] }
  const whole = { start: 0, end: smaller.size }
  const ranges = MerkleTree.consistency(smaller.size, larger.size)
  const tiles = yield* Effect.forEach(
    MerkleTree.tilesOf([whole, ...ranges]),
    (key) => Effect.map(tile(url, key, larger.size, allowed), (hashes) => [MerkleTree.keyOf(key), hashes] as const),
    { concurrency: CONCURRENT_TILES },
  )
  const { proof, root } = yield* Effect.try({
    try: () => {
      const hashOf = MerkleTree.hashOf(new Map(tiles))
      return { root: Uint8Array.from(hashOf(whole)), proof: ranges.map((range) => Uint8Array.from(hashOf(range))) }
    },
    catch: (cause) => new LogUnreadable({ message: `${url}: ${(cause as Error).message}` }),
  })
  if (!(yield* Effect.promise(() => verifyConsistency(smaller.size, root, larger.size, larger.root, proof))))
    return yield* new LogUnreadable({
      message: `the tiles of ${url} do not have the signed root of a tree of ${larger.size} leaves`,
    })
  return { root, proof }
})

/** Reads a tile as wide as it is in a tree of some size. A log that has grown may only have the full one. */
const tile = (url: string, key: MerkleTree.TileKey, size: number, allowed: Network.Networks) => {
  const width = Math.min(MerkleTree.TILE_WIDTH, MerkleTree.widthOf(size, key.level) - key.n * MerkleTree.TILE_WIDTH)
  const read = (width: number) => get(`${url}/${TilePath.of({ ...key, width })}`, allowed)
  return width === MerkleTree.TILE_WIDTH ? read(width) : Effect.catch(read(width), () => read(MerkleTree.TILE_WIDTH))
}
