import { Arbitrary, Effect, Schema } from "effect"
import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as SourceFiles from "../../../../apps/server/src/cli/remote/templates/SourceFiles.ts"
import { lineDiff } from "../../../../apps/server/src/cli/remote/templates/lineDiff.ts"
import * as TemplateFolder from "../../../../apps/server/src/cli/remote/templates/TemplateFolder.ts"
import { assert, describe, it, layer } from "../../../support/effectTest.ts"
import { NOWHERE } from "../../../support/nowhere.ts"
import * as CommandLine from "../../../support/process/CommandLine.ts"
import { HttpWorld, signUp } from "../../../support/world/HttpWorld.ts"
import { RECEIPT } from "../receiptTemplate.ts"

const newFolder = Effect.acquireRelease(
  Effect.promise(() => fs.mkdtemp(join(tmpdir(), "waybill-templates-"))),
  (folder) => Effect.promise(() => fs.rm(folder, { recursive: true, force: true })),
)

const text = Schema.Union([
  Schema.String.check(
    Schema.isMaxLength(40),
    Schema.makeFilter((text) => text.isWellFormed()),
  ),
  Schema.Literals([
    "",
    "\n",
    "a\r",
    "a\r\n",
    "a: b # c",
    "- x",
    "\ufeffa",
    "no",
    "1",
    "a\n\n b\n",
    "{{ 'x' }}",
    "&a *a !x",
  ]),
])
const maybe = Schema.NullOr(text)
const words = { subject: maybe, html: maybe, text: maybe, preheader: maybe }
const Template = Schema.Struct({
  name: Schema.String.check(Schema.isPattern(/^[\w é:#'"&*!?{}[\]|>%@-]{1,20}$/u)),
  kind: Schema.Literals(["template", "layout", "partial"]),
  description: maybe,
  ...words,
  from: Schema.NullOr(Schema.Literals(["Acme <hi@acme.test>", "hi@acme.test"])),
  reply_to: Schema.Array(Schema.Literals(["a@acme.test", "no@acme.test"])).check(Schema.isMaxLength(2)),
  language: Schema.optionalKey(Schema.Literals(["handlebars", "mustachio", "resend"])),
  layout: Schema.NullOr(Schema.Literals(["base", "no"])),
  locales: Schema.Record(Schema.Literals(["de", "pt-BR", "no"]), Schema.Struct(words)),
  variables: Schema.NullOr(
    Schema.Struct({
      type: Schema.Literal("object"),
      properties: Schema.Struct({
        name: Schema.Struct({ type: Schema.Literal("string"), description: text, default: text }),
        count: Schema.Struct({ enum: Schema.Array(Schema.Json).check(Schema.isMaxLength(3)) }),
      }),
    }),
  ),
  publish: Schema.Boolean,
})

describe("a folder of a template", () => {
  it.effect.prop(
    "holds all of it: what is read is what was written",
    { template: Arbitrary.schema(Template) },
    ({ template }) =>
      Effect.gen(function* () {
        const folder = yield* newFolder
        const written = { ...template, alias: "receipt", locales: { ...template.locales } }
        yield* Effect.promise(() => TemplateFolder.write(folder, written))
        const read = yield* Effect.promise(() => TemplateFolder.read(folder))
        assert.deepStrictEqual(JSON.parse(JSON.stringify(read)), JSON.parse(JSON.stringify(written)))
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 60 } },
  )

  it.effect("loses what is no longer there, and differs from others where case does not count", function* () {
    const root = yield* newFolder
    const places = yield* Effect.promise(() => TemplateFolder.placesOf(root, ["hello", "Hello", "con"]))
    assert.deepStrictEqual([...places.values()], [join(root, "hello"), join(root, "Hello_2"), join(root, "con_")])
    const folder = join(root, "hello")
    const template = { ...EMPTY, html: "<p>Hi</p>", locales: { de: { ...EMPTY_WORDS, html: "<p>Hallo</p>" } } }
    yield* Effect.promise(() => TemplateFolder.write(folder, template))
    yield* Effect.promise(() => TemplateFolder.write(folder, { ...EMPTY, text: "Hi" }))
    const files = yield* Effect.promise(() => fs.readdir(folder))
    assert.deepStrictEqual(files.sort(), ["template.yaml", "text.liquid"])
  })

  it.effect("has no language in a folder of other files, which stay", function* () {
    const folder = join(yield* newFolder, "hello")
    yield* Effect.promise(async () => {
      await TemplateFolder.write(folder, { ...EMPTY, html: "<p>Hi</p>" })
      for (const name of ["src", "img"]) await fs.mkdir(join(folder, name))
      await fs.writeFile(join(folder, "src", "Button.tsx"), "export const Button = 1\n")
    })
    assert.deepStrictEqual((yield* Effect.promise(() => TemplateFolder.read(folder))).locales, {})
    yield* Effect.promise(() => TemplateFolder.write(folder, EMPTY))
    const files = yield* Effect.promise(() => fs.readdir(folder))
    assert.deepStrictEqual(files.sort(), ["img", "src", "template.yaml"])
    yield* Effect.promise(() => fs.writeFile(join(folder, "src", "text.liquid"), "Hi\n"))
    assert.deepStrictEqual(Object.keys((yield* Effect.promise(() => TemplateFolder.read(folder))).locales), ["src"])
  })

  it.effect("with a mistake names the file and what is meant", function* () {
    const folder = yield* newFolder
    const failureOf = (yaml: string) =>
      Effect.promise(async () => {
        await fs.writeFile(join(folder, "template.yaml"), yaml)
        return TemplateFolder.read(folder).then(
          () => "",
          (error: Error) => error.message.replace(folder, ""),
        )
      })
    assert.strictEqual(yield* failureOf("nmae: Hi"), "/template.yaml: there is no field nmae; did you mean name?")
    assert.strictEqual(yield* failureOf("- a"), "/template.yaml: must have fields, such as `name: Receipt`")
    assert.match(yield* failureOf("name: 'x"), /^\/template\.yaml: Missing closing 'quote/u)
    assert.match(yield* failureOf("kind: page"), /^\/template\.yaml: .*kind/su)
    assert.match(yield* failureOf("alias: ../x"), /alias "\.\.\/x" must begin with a letter/u)
    yield* Effect.promise(() => fs.writeFile(join(folder, "html.liquid"), "a"))
    yield* Effect.promise(() => fs.writeFile(join(folder, "html.mjml"), "a"))
    assert.match(yield* failureOf("name: x"), /html\.liquid and .*html\.mjml are the same part; keep one of them/u)
  })
})

const EMPTY_WORDS = { subject: null, html: null, text: null, preheader: null }
const EMPTY = {
  ...EMPTY_WORDS,
  alias: "hello",
  kind: "template" as const,
  name: "Hello",
  description: null,
  from: null,
  reply_to: [],
  layout: null,
  locales: {},
  variables: null,
  publish: true,
}

describe("a diff", () => {
  it("shows the lines that differ with some around them", () => {
    const before = ["1", "2", "3", "4", "5", "6", "7", "8", "9"].join("\n")
    assert.deepStrictEqual(lineDiff(before, before), [])
    assert.deepStrictEqual(lineDiff(before, before.replace("2", "two").replace("9", "")), [
      "  1",
      "- 2",
      "+ two",
      "  3",
      "  4",
      "  …",
      "  7",
      "  8",
      "- 9",
      "+ ",
    ])
    assert.deepStrictEqual(lineDiff("", "a"), ["+ a"])
  })
})

describe("a component", () => {
  it("gets a placeholder for each variable of the schema", () => {
    const order = { type: "object", properties: { id: { type: "integer" }, lines: { type: "array" } } }
    assert.deepStrictEqual(SourceFiles.placeholdersOf({ properties: { name: { type: "string" }, order } }, ""), {
      name: "{{ name }}",
      order: { id: "{{ order.id }}" },
    })
  })
})

layer(HttpWorld.layer(), { excludeTestServices: true })("a folder of templates", (it) => {
  const shop = Effect.gen(function* () {
    const { call, key, world } = yield* signUp({ domains: ["shop.test"] })
    const env = { WAYBILL_URL: world.url, WAYBILL_KEY: key }
    const type = (...words: ReadonlyArray<string>) =>
      CommandLine.typeWith(env, "templates", ...words).pipe(
        Effect.map(({ exit, ...printed }) => ({ ...printed, code: CommandLine.codeOf(exit) })),
      )
    return { call, type, folder: join(yield* newFolder, "templates") }
  })
  const BASE = { alias: "base", name: "Base", kind: "layout", html: "<main>{{ content }}</main>" }

  it.effect("is pulled, planned and pushed, also from one account to another", function* () {
    const { call, folder, type } = yield* shop
    const locales = { de: { subject: "Hallo\n", preheader: " x" }, "pt-BR": {}, fr: { text: "" } }
    const whole = {
      description: "Of: a shop",
      from: "Acme <hi@shop.test>",
      reply_to: ["a@shop.test"],
      text: "Hi\r\n\n",
    }
    const pushed = { templates: [{ ...RECEIPT, ...whole, locales, layout: "base", preheader: "Your\norder" }, BASE] }
    yield* call("POST", "/v1/templates/push", pushed)
    assert.strictEqual((yield* type("pull", folder)).output, `${folder} has 2 templates.`)
    const same = yield* type("plan", folder)
    assert.deepStrictEqual([same.code, same.output], [0, "Nothing to push: the account has what the folder has."])

    const html = join(folder, "base", "html.liquid")
    yield* Effect.promise(() => fs.writeFile(html, "<body>{{ content }}</body>\n"))
    const planned = yield* type("plan", folder)
    assert.strictEqual(planned.code, 2)
    assert.strictEqual(
      planned.output,
      ["base: changed (draft)", "  html", "    - <main>{{ content }}</main>", "    + <body>{{ content }}</body>"].join(
        "\n",
      ),
    )
    const done = yield* type("push", folder, "--publish", "--notes", "Body")
    assert.deepStrictEqual(done.output.split("\n").sort(), [
      "base: changed (version 1)",
      "receipt: published (version 1)",
    ])
    assert.strictEqual((yield* type("plan", folder, "--publish")).code, 0)
    assert.deepInclude((yield* call("GET", "/v1/templates/base/versions/1")).json, { notes: "Body" })

    const other = yield* shop
    const wouldCreate = yield* other.type("plan", folder, "--publish", "--json")
    assert.strictEqual(wouldCreate.code, 2)
    yield* other.type("push", folder, "--publish")
    const copied = yield* other.call("GET", "/v1/templates/receipt")
    const original = yield* call("GET", "/v1/templates/receipt")
    assert.strictEqual(copied.json.etag, original.json.etag)
    assert.strictEqual((yield* other.type("plan", folder, "--publish")).code, 0)
  })

  it.effect("has types of the variables of what is sent, or of its own schemas", function* () {
    const { call, folder, type } = yield* shop
    yield* call("POST", "/v1/templates/push", { templates: [RECEIPT, BASE], publish: true })
    yield* call("PATCH", "/v1/templates/receipt", { variables: { type: "object", properties: { nick: {} } } })
    const sent = yield* type("types")
    assert.include(sent.output, "    receipt: {\n")
    assert.include(sent.output, "      readonly name: string\n")
    assert.notInclude(sent.output, "base")
    yield* type("pull", folder)
    const file = join(folder, "types.d.ts")
    assert.strictEqual((yield* type("types", folder, "--out", file)).output, `${file} has the variables of 1 template.`)
    assert.match(yield* Effect.promise(() => fs.readFile(file, "utf8")), /readonly nick\?: unknown/u)
    const without = CommandLine.typeWith({ XDG_CONFIG_HOME: NOWHERE }, "templates", "types", folder)
    assert.match((yield* without).output, /nick/u)
    const listed = yield* type("list", "--json")
    assert.strictEqual(JSON.parse(listed.output).length, 2)
  })

  it.effect("keeps what stays a draft when it is pulled", function* () {
    const { call, folder, type } = yield* shop
    yield* call("POST", "/v1/templates/push", { templates: [BASE] })
    yield* type("pull", folder)
    const file = join(folder, "base", "template.yaml")
    yield* Effect.promise(() => fs.appendFile(file, "publish: false\n"))
    yield* type("pull", folder)
    assert.match(yield* Effect.promise(() => fs.readFile(file, "utf8")), /^publish: false$/mu)
    assert.strictEqual((yield* type("plan", folder, "--publish")).code, 0)
  })

  it.effect("overwrites no change that somebody made in the account", function* () {
    const { call, folder, type } = yield* shop
    yield* call("POST", "/v1/templates/push", { templates: [BASE] })
    yield* type("pull", folder)
    yield* call("PATCH", "/v1/templates/base", { name: "Frame" })
    yield* Effect.promise(() => fs.writeFile(join(folder, "base", "html.liquid"), "{{ content }}\n"))
    const refused = yield* type("push", folder)
    assert.strictEqual(refused.code, 1)
    assert.match(refused.errors, /base changed in the account since the last pull or push/u)
    assert.strictEqual((yield* call("GET", "/v1/templates/base")).json.name, "Frame")
    assert.strictEqual((yield* type("push", folder, "--force")).code, 0)
    assert.deepInclude((yield* call("GET", "/v1/templates/base")).json, { name: "Base" })
  })

  it.effect("is refused with the problems of all templates, and pushes none", function* () {
    const { call, folder, type } = yield* shop
    yield* call("POST", "/v1/templates/push", { templates: [BASE] })
    yield* type("pull", folder)
    yield* Effect.promise(() => fs.writeFile(join(folder, "base", "html.liquid"), "{{ content | upcas }}\n"))
    const wrong = yield* type("push", folder)
    assert.match(wrong.errors, /base: html there is no filter upcas; did you mean upcase\? \(line 1, column 1\)/u)
    assert.strictEqual((yield* type("plan", folder)).code, 1)
    assert.match((yield* type("push", `${folder}-none`)).errors, /there is no such folder/u)
    assert.match((yield* type("pull", join(folder, "base"))).errors, /is a template itself/u)
  })
})
