import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Databases from "@waybill/store/routing/Databases"
import { Sql } from "@waybill/store/postgres/Sql"
import * as Checkpoints from "@waybill/store/transparency/Checkpoints"
import * as LogKeys from "@waybill/store/transparency/LogKeys"
import * as LogTree from "@waybill/store/transparency/LogTree"
import * as MerkleTree from "@waybill/store/transparency/MerkleTree"
import * as SignedNote from "@waybill/store/transparency/SignedNote"
import * as TilePath from "@waybill/store/transparency/TilePath"
import { Clock, Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as RequestTarget from "../../requests/RequestTarget.ts"

/** The log of each database for everybody: its signed head and its hashes (c2sp.org/tlog-tiles), and the keys of the instance. */

const WELL_KNOWN = "/.well-known/waybill-log.json"
const PATH = /^\/log\/(?:cells\/([a-z0-9_]{1,40})\/)?(checkpoint|tile\/.+)$/u

export const isOpen = (path: string): boolean => path === WELL_KNOWN || path.startsWith("/log/")

const NOSNIFF = { "x-content-type-options": "nosniff" }
/** Others may read the log from the browser, as a page that checks receipts does. */
const PUBLIC = { ...NOSNIFF, "access-control-allow-origin": "*" }
const MOMENT = { ...PUBLIC, "cache-control": "public, max-age=1" }
const FOR_EVER = { ...PUBLIC, "cache-control": "public, max-age=31536000, immutable" }

const notFound = HttpServerResponse.text("There is no such part of the log.\n", { status: 404, headers: MOMENT })

const checkpoint = Effect.gen(function* () {
  const [tree] = yield* Checkpoints.trees(yield* Sql, 1)
  return tree === undefined
    ? notFound
    : HttpServerResponse.text(tree.note, { contentType: "text/plain; charset=utf-8", headers: MOMENT })
})

/** Shows hashes of signed leaves only, so that what anybody has seen never changes. */
const tile = Effect.fnUntraced(function* (path: string) {
  const sql = yield* Sql
  const wanted = TilePath.parse(path)
  const [tree] = yield* Checkpoints.trees(sql, 1)
  if (wanted === undefined || tree === undefined) return notFound
  const signed = MerkleTree.widthOf(tree.size, wanted.level) - wanted.n * MerkleTree.TILE_WIDTH
  if (signed < wanted.width) return notFound
  const tiles = yield* LogTree.readTiles(sql, [wanted])
  const hashes = tiles.get(MerkleTree.keyOf(wanted))?.subarray(0, wanted.width * MerkleTree.HASH_BYTES)
  if (hashes?.length !== wanted.width * MerkleTree.HASH_BYTES) return notFound
  return HttpServerResponse.uint8Array(hashes, { contentType: "application/octet-stream", headers: FOR_EVER })
})

const part = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const [, of = Databases.home.name, path] = PATH.exec(RequestTarget.pathOf(request.url)) ?? []
  const database = (yield* Databases.listed).find(({ name }) => name === of)
  if (path === undefined || database === undefined) return notFound
  return yield* database.run(path === "checkpoint" ? checkpoint : tile(path))
})

/** The keys of a log under one of its names, the newest first. */
const keysOf = (keys: ReadonlyArray<LogKeys.LogKey>, now: Timestamp.Timestamp, origin: string) => {
  const vkey = ({ public_key }: LogKeys.LogKey) => SignedNote.vkeyOf({ name: origin, key: public_key })
  return {
    keys: keys.filter(({ ends_at }) => ends_at === null || now < ends_at).map(vkey),
    former_keys: keys.flatMap((key) => (key.ends_at === null ? [] : [{ key: vkey(key), until: key.ends_at }])),
  }
}

const logOf = (baseUrl: string, isPublic: boolean, { name, run }: Databases.Database) =>
  run(
    Effect.gen(function* () {
      const [tree, ...former] = yield* Checkpoints.trees(yield* Sql)
      const origin = tree?.origin ?? Checkpoints.originOf(baseUrl, name)
      // Read once, however many names the log has had.
      const keys = (yield* LogKeys.list).toReversed()
      const now = Timestamp.fromMillis(yield* Clock.currentTimeMillis)
      const named = former.map((each) => ({
        origin: each.origin,
        ...keysOf(keys, now, each.origin),
        checkpoint: each.note,
      }))
      return {
        origin,
        ...keysOf(keys, now, origin),
        ...(isPublic ? { url: `${baseUrl.replace(/\/$/u, "")}/${Checkpoints.prefixOf(name)}`, former: named } : {}),
      }
    }),
  )

export interface Options {
  readonly baseUrl: string
  /** Whether the log is shown; its keys always are. */
  readonly isPublic: boolean
}

export const layer = ({ baseUrl, isPublic }: Options) =>
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const wellKnown = Effect.gen(function* () {
        const [first, ...others] = yield* Effect.forEach(yield* Databases.listed, (each) =>
          logOf(baseUrl, isPublic, each),
        )
        const body = { ...first, ...(others.length === 0 ? {} : { cells: others }) }
        return HttpServerResponse.jsonUnsafe(body, { headers: { ...PUBLIC, "cache-control": "public, max-age=60" } })
      })
      yield* router.add("GET", WELL_KNOWN, wellKnown)
      yield* router.add("GET", "/log/*", isPublic ? part : Effect.succeed(notFound))
    }),
  )
