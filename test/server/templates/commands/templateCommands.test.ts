import { Effect } from "effect"
import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, layer } from "../../../support/effectTest.ts"
import * as CommandLine from "../../../support/process/CommandLine.ts"
import { HttpWorld, signUp } from "../../../support/world/HttpWorld.ts"
import { RECEIPT, VARIABLES } from "../receiptTemplate.ts"

const newFolder = Effect.acquireRelease(
  Effect.promise(() => fs.mkdtemp(join(tmpdir(), "waybill-commands-"))),
  (folder) => Effect.promise(() => fs.rm(folder, { recursive: true, force: true })),
)

layer(HttpWorld.layer(), { excludeTestServices: true })("commands of templates", (it) => {
  const shop = Effect.gen(function* () {
    const { call, key, world } = yield* signUp({ domains: ["shop.test"] })
    const type = (...words: ReadonlyArray<string>) =>
      CommandLine.typeWith({ WAYBILL_URL: world.url, WAYBILL_KEY: key }, ...words).pipe(
        Effect.map(({ exit, ...printed }) => ({ ...printed, code: CommandLine.codeOf(exit) })),
      )
    return { call, type, folder: yield* newFolder }
  })

  it.effect("show, render and send one, and send a former version again", function* () {
    const { call, folder, type } = yield* shop
    const locales = { de: { subject: "Bestellung {{ order.id }}" } }
    yield* call("POST", "/v1/templates", { ...RECEIPT, from: "Shop <a@shop.test>", locales })
    yield* call("POST", "/v1/templates/receipt/publish", { notes: "First" })
    yield* call("PATCH", "/v1/templates/receipt", { subject: "New {{ order.id }}" })
    assert.match((yield* type("templates", "show", "receipt")).output, /draft_differs: true/u)

    const values = join(folder, "values.json")
    yield* Effect.promise(() => fs.writeFile(values, JSON.stringify(VARIABLES)))
    const rendered = yield* type("templates", "render", "receipt", "--variables", `@${values}`, "--locale", "de")
    assert.match(rendered.output, /^Subject: Bestellung 7\n/u)
    const draft = yield* type(
      "templates",
      "render",
      "receipt",
      "--variables",
      JSON.stringify(VARIABLES),
      "--part",
      "subject",
    )
    assert.strictEqual(draft.output, "New 7")
    const wrong = yield* type("templates", "render", "receipt", "--variables", "name=Ana")
    assert.strictEqual(wrong.code, 1)

    const words = [
      "--to",
      "ana@example.org",
      "--template",
      "receipt",
      "--variables",
      `@${values}`,
      "--locale",
      "de",
      "--json",
    ]
    const sent = yield* type("send", ...words)
    const { id } = JSON.parse(sent.output) as { readonly id: string }
    assert.deepInclude((yield* call("GET", `/v1/email/logs/${id}`)).json, { subject: "Bestellung 7" })
    const greeting = { name: "Hello", alias: "hello", from: "Shop <a@shop.test>", subject: "Hi {{ name }}", text: "Hi" }
    yield* call("POST", "/v1/templates", greeting)
    yield* call("POST", "/v1/templates/hello/publish", {})
    const empty = yield* type("send", "--to", "ana@example.org", "--template", "hello")
    assert.include(empty.errors, "Variables without a value: name.")
    const bare = yield* type("send", "--to", "ana@example.org", "--text", "Hi")
    assert.strictEqual(bare.code, 1)

    yield* call("POST", "/v1/templates/receipt/publish", {})
    assert.match((yield* type("templates", "rollback", "receipt", "1")).output, /^Version 1 of receipt is sent/u)
    const listed = yield* type("templates", "versions", "receipt", "--json")
    assert.deepStrictEqual(
      (JSON.parse(listed.output) as ReadonlyArray<{ readonly number: number; readonly sent: boolean }>).map(
        ({ number, sent }) => [number, sent],
      ),
      [
        [2, false],
        [1, true],
      ],
    )
  })

  it.effect("tell of templates that were archived, and do not create them again by themselves", function* () {
    const { call, folder, type } = yield* shop
    const foot = { name: "Foot", alias: "foot", kind: "partial", html: "<i>Bye</i>" }
    yield* call("POST", "/v1/templates", foot)
    yield* type("templates", "pull", folder)
    yield* call("DELETE", "/v1/templates/foot")
    assert.include((yield* type("templates", "pull", folder)).output, "foot is not in the account any more")
    const refused = yield* type("templates", "push", folder)
    assert.strictEqual(refused.code, 1)
    assert.strictEqual((yield* call("GET", "/v1/templates/foot")).status, 404)
    assert.strictEqual((yield* type("templates", "push", folder, "--force")).code, 0)
    assert.strictEqual((yield* call("GET", "/v1/templates/foot")).status, 200)
  })

  it.effect("warn of a variable that is not in the schema", function* () {
    const { call, folder, type } = yield* shop
    const variables = { type: "object", properties: { name: { type: "string" } } }
    const template = { name: "Hello", alias: "hello", subject: "Hi", html: "<p>{{ nmae }}</p>", variables }
    yield* call("POST", "/v1/templates", template)
    yield* type("templates", "pull", folder)
    assert.include(
      (yield* type("templates", "plan", folder)).output,
      "Warning: hello: html `nmae` is not in the schema; did you mean `name`? (line 1, column 7)",
    )
  })
})
