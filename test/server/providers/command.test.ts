import { Effect, Exit, Redacted } from "effect"
import { writeFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, layer } from "../../support/effectTest.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import * as Calls from "./calls.ts"

layer(Database.layerFresh, { excludeTestServices: true, timeout: "60 seconds" })("waybill providers", (it) => {
  it.effect("makes, lists and removes the address of a provider, and keeps its secret sealed", function* () {
    const { url } = yield* Database.Fresh
    const folder = yield* Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(tmpdir(), "waybill-providers-"))),
      (path) => Effect.promise(() => rm(path, { recursive: true, force: true })),
    )
    const env = {
      DATABASE_URL: Redacted.value(url),
      WAYBILL_DATA: folder,
      INSTANCE_KEY: World.INSTANCE_KEY,
      BASE_URL: "https://mail.acme.test/",
    }
    const run = (...words: ReadonlyArray<string>) => CommandLine.typeWith(env, "providers", ...words)
    const json = Effect.fnUntraced(function* (...words: ReadonlyArray<string>) {
      const { errors, exit, output } = yield* run(...words, "--json")
      assert.isTrue(Exit.isSuccess(exit), errors)
      return JSON.parse(output)
    })
    const secret = join(folder, "secret")
    writeFileSync(secret, `${Calls.SENDGRID_KEY}\n`)
    const made = yield* json("add", "sendgrid", "--name", "Shop", "--secret-file", secret)
    assert.match(made.url, /^https:\/\/mail\.acme\.test\/hooks\/sendgrid\/[0-9a-f]{40}[0-9a-z]{16}$/u)
    const own = yield* json("add", "postmark")
    assert.strictEqual(own.user, "waybill")
    assert.isAtLeast(own.password.length, 20)
    const sparkpost = yield* json("add", "sparkpost")
    assert.strictEqual(sparkpost.access_url, `${sparkpost.url}/access`)
    assert.isUndefined(own.access_url)
    assert.isTrue(Exit.isSuccess((yield* run("remove", sparkpost.id)).exit))
    const [first, second] = yield* json("list")
    assert.deepInclude(first, { id: made.id, provider: "sendgrid", name: "Shop", recorded: 0, last_event_at: null })
    assert.strictEqual(second.id, own.id)
    assert.deepStrictEqual(yield* json("unmatched", made.id), [])
    writeFileSync(secret, "not a key")
    for (const [words, problem] of [
      [["add", "sendgrid", "--secret-file", secret], "no verification key"],
      [["add", "mailgun"], "needs --secret-file with the HTTP webhook signing key"],
      [["remove", "prv_none"], "There is no hook prv_none"],
    ] as const) {
      const { errors, exit } = yield* run(...words)
      assert.isTrue(Exit.isFailure(exit))
      assert.include(errors, problem)
    }
    assert.isTrue(Exit.isSuccess((yield* run("remove", made.id)).exit))
    assert.lengthOf(yield* json("list"), 1)
  })
})
