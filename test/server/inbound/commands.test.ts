import { Effect, Exit } from "effect"
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, layer } from "../../support/effectTest.ts"
import { NOWHERE } from "../../support/nowhere.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import { arrive } from "../../support/world/arrive.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"

const ESCAPE = "\u001B"

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("waybill inbound", (it) => {
  // threat: terminal
  it.effect(
    "lists, shows, saves, replays, forwards and removes mail, and lets no stranger into the terminal",
    function* () {
      const { account, key, world } = yield* signUp({ domains: ["shop.test"] })
      const env = { WAYBILL_URL: world.url, WAYBILL_KEY: key, XDG_CONFIG_HOME: NOWHERE }
      const type = Effect.fnUntraced(function* (...words: ReadonlyArray<string>) {
        const { errors, exit, output } = yield* CommandLine.typeWith(env, "inbound", ...words)
        assert.isTrue(Exit.isSuccess(exit), errors)
        assert.notInclude(output, ESCAPE)
        return output
      })
      const hostile = `${ESCAPE}]0;owned\u0007${ESCAPE}[2J`
      const mail = { from: `"${hostile}Ana" <ana@example.org>`, to: "hi@shop.test", Subject: `Order ${hostile}` }
      const id = yield* arrive(account, { ...mail, text: `Where ${hostile} is it?` })
      const listed = yield* type("list", "--from", "ana@example.org")
      assert.include(listed, id)
      assert.include(listed, "Order")
      assert.deepInclude(JSON.parse(yield* type("list", "--json"))[0], { id, status: "received" })
      assert.include(yield* type("get", id), "is it?")

      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "waybill-inbound-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true })),
      )
      const file = join(folder, "mail.eml")
      assert.include(yield* type("raw", id, file), `${statSync(file).size} bytes`)
      assert.include(readFileSync(file, "utf8"), `Where ${hostile} is it?`)

      yield* type("routes", "create", "store", "--to", "*@shop.test")
      assert.include(yield* type("routes", "test", "--to", "hi@shop.test", "--from", "ana@example.org"), "store")
      assert.include(yield* type("replay", id), "store")
      assert.match(yield* type("forward", id, "--to", "bo@example.org"), /msg_\w+/u)
      const [route] = JSON.parse(yield* type("routes", "list", "--json"))
      yield* type("routes", "remove", route.id)
      yield* type("remove", id)
      assert.deepStrictEqual(JSON.parse(yield* type("list", "--json")), [])
    },
  )
})
