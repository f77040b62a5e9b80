import * as LogKeys from "@waybill/store/transparency/LogKeys"
import * as MerkleTree from "@waybill/store/transparency/MerkleTree"
import { Effect, Logger, Redacted } from "effect"
import { followLogTree } from "../../../apps/server/src/worker/periodic/followLogTree.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import { NOWHERE } from "../../support/nowhere.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"
import { buildLog } from "../../support/world/logTree.ts"
import * as World from "../../support/world/World.ts"

const bytesOf = (url: string) =>
  Effect.promise(async () => {
    const response = await fetch(url)
    return { status: response.status, headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) }
  })

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "120 seconds" })("the public log", (it) => {
  it.effect("serves its head and its hashes, which lead to the root, and nothing else", function* () {
    const { send, world } = yield* signUp({ domains: ["acme.test"] })
    assert.strictEqual((yield* world.request("GET", "/log/checkpoint")).status, 404)
    for (let nth = 0; nth < 3; nth++) yield* send()
    yield* buildLog
    const { headers, text } = yield* world.request("GET", "/log/checkpoint")
    assert.strictEqual(headers.get("content-type"), "text/plain; charset=utf-8")
    const [origin, size = "", root = ""] = text.split("\n")
    assert.strictEqual(origin, "waybill.example/log")
    const tile = yield* bytesOf(`${world.url}/log/tile/0/000.p/${size}`)
    assert.strictEqual(tile.bytes.length, 32 * Number(size))
    assert.include(tile.headers.get("cache-control"), "immutable")
    const leaves = Array.from({ length: Number(size) }, (_, nth) => tile.bytes.subarray(32 * nth, 32 * (nth + 1)))
    const { edge } = MerkleTree.append([], 0, leaves)
    assert.strictEqual(Buffer.from(MerkleTree.rootOf(edge)).toString("base64"), root)
    // Hashes of leaves that are not signed yet are not shown.
    yield* send()
    for (const path of [
      "tile/0/000",
      `tile/0/000.p/${Number(size) + 1}`,
      "tile/1/000.p/1",
      "tile/0/001.p/1",
      "tile/entries/000.p/1",
      "tile/0/0",
      "cells/other/checkpoint",
      "cells/public/x",
      "x",
    ])
      assert.strictEqual((yield* world.request("GET", `/log/${path}`)).status, 404, path)
  })

  it.effect("is verified by `waybill log verify`, which finds a hash that was changed", function* () {
    const { send, world } = yield* signUp({ domains: ["acme.test"] })
    yield* send()
    yield* buildLog
    const { url } = yield* Database.Fresh
    const env = { WAYBILL_DATA: NOWHERE, DATABASE_URL: Redacted.value(url) }
    const verify = Effect.fnUntraced(function* (...more: ReadonlyArray<string>) {
      const done = yield* CommandLine.typeWith(env, "log", "verify", "--url", world.url, "--json", ...more)
      return { code: CommandLine.codeOf(done.exit), ...done }
    })
    const { json } = yield* world.request("GET", "/.well-known/waybill-log.json")
    assert.deepStrictEqual([json.url, json.origin], ["https://waybill.example/log", "waybill.example/log"])
    const verified = yield* verify()
    assert.strictEqual(verified.code, 0, verified.errors)
    assert.strictEqual(JSON.parse(verified.output)[0].origin, "waybill.example/log")
    assert.include(verified.errors, "Name a key that you have from elsewhere")
    const pinned = yield* verify("--key", json.keys[0])
    assert.deepStrictEqual([pinned.code, pinned.errors], [0, ""])
    const other = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
    assert.include((yield* verify("--key", other)).errors, "no trusted key of the log has signed it")
    yield* world.sql`UPDATE log_tiles SET hashes = set_byte(hashes, 40, (get_byte(hashes, 40) + 1) % 256)`
    const changed = yield* verify()
    assert.strictEqual(changed.code, 3)
    assert.include(changed.errors, "do not lead to the root")
  })
})

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "120 seconds" })("a log and another BASE_URL", (it) => {
  it.effect("goes on under its name, and the process with the other one warns once", function* () {
    const { call, send, world } = yield* signUp({ domains: ["acme.test"] })
    yield* send()
    yield* buildLog
    const warnings: Array<unknown> = []
    const logger = Logger.make(({ message }) => {
      const [words, fields] = message as ReadonlyArray<unknown>
      if (String(words).includes("another name than that of BASE_URL")) warnings.push(fields)
    })
    yield* followLogTree("https://other.example", yield* LogKeys.makeSigners).pipe(
      Effect.provide(Logger.layer([logger])),
    )
    for (let nth = 0; nth < 2; nth++) {
      const path = `/v1/email/${yield* send()}/receipt`
      const { json } = yield* World.until(call("GET", path), ({ status }) => status === 200)
      assert.strictEqual(json.origin, "waybill.example/log")
    }
    assert.deepStrictEqual(warnings, [{ origin: "waybill.example/log", own: "other.example/log" }])
    assert.deepStrictEqual((yield* world.request("GET", "/.well-known/waybill-log.json")).json.former, [])
  })
})

layer(HttpWorld.layer({ transparency: false }), { excludeTestServices: true, timeout: "120 seconds" })(
  "a log that is not public",
  (it) => {
    it.effect("hides its head and its hashes, not its keys, and proves as before", function* () {
      const { call, send, world } = yield* signUp({ domains: ["acme.test"] })
      const id = yield* send()
      yield* buildLog
      for (const path of ["checkpoint", "tile/0/000.p/1"])
        assert.strictEqual((yield* world.request("GET", `/log/${path}`)).status, 404)
      const { json } = yield* world.request("GET", "/.well-known/waybill-log.json")
      assert.hasAllKeys(json, ["origin", "keys", "former_keys"])
      assert.strictEqual((yield* call("GET", `/v1/email/${id}/receipt`)).status, 200)
    })
  },
)
