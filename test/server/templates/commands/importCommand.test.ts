import { Effect } from "effect"
import * as fs from "node:fs/promises"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, layer } from "../../../support/effectTest.ts"
import { NOWHERE } from "../../../support/nowhere.ts"
import * as CommandLine from "../../../support/process/CommandLine.ts"
import { HttpWorld, signUp } from "../../../support/world/HttpWorld.ts"

const newFolder = Effect.acquireRelease(
  Effect.promise(() => fs.mkdtemp(join(tmpdir(), "waybill-import-"))),
  (folder) => Effect.promise(() => fs.rm(folder, { recursive: true, force: true })),
)

/** Serves the API of a service on this machine. */
const serving = (answer: (request: IncomingMessage, url: URL) => unknown) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<{ readonly url: string; readonly close: () => void }>((resolve) => {
          const server = createServer((request, response) => {
            const json = answer(request, new URL(request.url ?? "/", "http://localhost"))
            response.writeHead(json === undefined ? 404 : 200, { "content-type": "application/json" })
            response.end(JSON.stringify(json ?? { message: "not found" }))
          })
          server.listen(0, "127.0.0.1", () => {
            const { port } = server.address() as AddressInfo
            resolve({ url: `http://127.0.0.1:${port}`, close: () => void server.close() })
          })
        }),
    ),
    ({ close }) => Effect.sync(close),
  )

const run = (env: Readonly<Record<string, string>>, ...words: ReadonlyArray<string>) =>
  CommandLine.typeWith({ XDG_CONFIG_HOME: NOWHERE, ...env }, "templates", "import", ...words).pipe(
    Effect.map(({ exit, ...printed }) => ({ ...printed, code: CommandLine.codeOf(exit) })),
  )

layer(HttpWorld.layer(), { excludeTestServices: true })("an import of templates", (it) => {
  const shop = Effect.gen(function* () {
    const { call, key, world } = yield* signUp({ domains: ["shop.test"] })
    return { call, env: { WAYBILL_URL: world.url, WAYBILL_KEY: key }, folder: join(yield* newFolder, "templates") }
  })

  it.effect("takes those of Postmark by its API, with layouts, and publishes what is translated", function* () {
    const { call, env, folder } = yield* shop
    const templates = [
      { TemplateId: 1, Alias: "base", Name: "Base", TemplateType: "Layout", HtmlBody: "<main>{{{ @content }}}</main>" },
      {
        TemplateId: 2,
        Alias: "welcome",
        Name: "Welcome",
        TemplateType: "Standard",
        LayoutTemplate: "base",
        Subject: "Hi {{name}}",
        HtmlBody: "{{#company}}<p>{{name}}</p>{{/company}}",
        TextBody: "Hi",
      },
      { TemplateId: 3, Alias: null, Name: "Old news!", TemplateType: "Standard", HtmlBody: "<p>\n{{> footer}}</p>" },
      { TemplateId: 4, Alias: "script", Name: "Script", HtmlBody: "<script>{{name}}</script>" },
    ]
    const service = yield* serving(({ headers }, { pathname, searchParams }) => {
      if (headers["x-postmark-server-token"] !== "token-1") return undefined
      if (pathname === "/templates")
        return { TotalCount: 4, Templates: templates.slice(Number(searchParams.get("offset"))).slice(0, 3) }
      return templates.find(({ TemplateId }) => pathname === `/templates/${TemplateId}`)
    })
    const { code, output } = yield* run(
      { ...env, POSTMARK_SERVER_TOKEN: "token-1" },
      "postmark",
      folder,
      "--url",
      service.url,
      "--push",
    )
    assert.strictEqual(code, 0)
    assert.deepStrictEqual(output.split("\n"), [
      `${folder} has 4 templates of Postmark.`,
      "old-news stays a draft:",
      "  html: Postmark has no partials (line 2, column 1)",
      "script cannot be pushed before it is mended:",
      "  html: a variable cannot stand in a script (line 1, column 9)",
      "base: created (version 1)",
      "welcome: created (version 1)",
      "old-news: created (draft)",
    ])
    const rendered = yield* call("POST", "/v1/templates/welcome/render", {
      variables: { name: "Ana", company: { name: "Acme & Co" } },
    })
    assert.deepInclude(rendered.json, { subject: "Hi Ana", html: "<main><p>Acme &amp; Co</p></main>", text: "Hi" })
    assert.strictEqual((yield* call("GET", "/v1/templates/old-news")).json.status, "draft")
    assert.strictEqual((yield* call("GET", "/v1/templates/script")).status, 404)
    const yaml = yield* Effect.promise(() => fs.readFile(join(folder, "old-news", "template.yaml"), "utf8"))
    assert.match(
      yaml,
      /^# Not translated; remove `publish: false` when it is mended:\n# html: Postmark has no partials/u,
    )
  })

  it.effect(
    "takes those of Resend with their variables, and those of SendGrid with their active version",
    function* () {
      const { folder } = yield* shop
      const resend = yield* serving((request, { pathname, searchParams }) => {
        if (request.headers.authorization !== "Bearer re_1") return undefined
        const ids = searchParams.get("after") === "a" ? ["b"] : ["a"]
        if (pathname === "/templates")
          return { object: "list", data: ids.map((id) => ({ id })), has_more: ids[0] === "a" }
        const id = pathname.split("/")[2]
        const variables = [
          { key: "PRODUCT", type: "string", fallback_value: "thing" },
          { key: "PRICE", type: "number", fallback_value: null },
        ]
        return { id, name: `Order ${id}`, alias: `order-${id}`, subject: "Hi", html: "<p>{{{PRODUCT}}}</p>", variables }
      })
      const fromResend = yield* run({ RESEND_API_KEY: "re_1" }, "resend", folder, "--url", resend.url, "--json")
      assert.deepStrictEqual(
        JSON.parse(fromResend.output).templates.map(({ alias }: { readonly alias: string }) => alias),
        ["order-a", "order-b"],
      )
      const yaml = yield* Effect.promise(() => fs.readFile(join(folder, "order-b", "template.yaml"), "utf8"))
      assert.match(yaml, /required:\n {4}- PRICE\n/u)
      assert.match(yaml, /PRODUCT:\n {6}type: string\n {6}default: thing\n/u)

      const sendgrid = yield* serving((request, { pathname, searchParams }) => {
        if (request.headers.authorization !== "Bearer SG.1") return undefined
        const next = "https://api.sendgrid.com/v3/templates?page_token=two"
        if (pathname === "/v3/templates")
          return searchParams.get("page_token") === "two"
            ? { result: [{ id: "d-2" }], _metadata: {} }
            : { result: [{ id: "d-1" }], _metadata: { next } }
        const version = (active: number, html: string) => ({ active, subject: "Hi {{name}}", html_content: html })
        const versions = [version(0, "<p>Old</p>"), version(1, "{{#if name}}<p>{{name}}</p>{{/if}}")]
        return { id: pathname.split("/")[3], name: "Receipt", generation: "dynamic", versions }
      })
      yield* run({ SENDGRID_API_KEY: "SG.1" }, "sendgrid", folder, "--url", sendgrid.url)
      const html = yield* Effect.promise(() => fs.readFile(join(folder, "receipt-2", "html.liquid"), "utf8"))
      assert.match(html, /^\{% if name and .*\{\{ name \}\}/u)
    },
  )

  it.effect("overwrites neither a folder nor a template of the account that was there before", function* () {
    const { call, env, folder } = yield* shop
    const place = yield* newFolder
    const file = join(place, "export.json")
    const exported = [{ Alias: "welcome", Name: "Welcome", Subject: "Old", HtmlBody: "<p>Old</p>" }]
    yield* Effect.promise(() => fs.writeFile(file, JSON.stringify(exported)))
    yield* call("POST", "/v1/templates", { alias: "welcome", name: "Mine", subject: "New", html: "<p>New</p>" })
    const push = (...words: ReadonlyArray<string>) => run(env, "postmark", folder, "--from", file, "--push", ...words)
    const refused = yield* push()
    assert.strictEqual(refused.code, 1)
    assert.match(refused.errors, /The account has templates of the same alias: welcome\. Nothing was pushed\./u)
    assert.deepInclude((yield* call("GET", "/v1/templates/welcome")).json, { name: "Mine", status: "draft" })

    const html = join(folder, "welcome", "html.liquid")
    yield* Effect.promise(() => fs.writeFile(html, "<p>Mended</p>\n"))
    const again = yield* push()
    assert.strictEqual(again.code, 1)
    assert.match(again.errors, /has welcome already\. Import into another folder, or write over them with --force\./u)
    assert.strictEqual(yield* Effect.promise(() => fs.readFile(html, "utf8")), "<p>Mended</p>\n")
    assert.strictEqual((yield* push("--force")).code, 0)
    assert.deepInclude((yield* call("GET", "/v1/templates/welcome")).json, { name: "Welcome", status: "published" })
  })

  it.effect("takes an export, and says what is missing", function* () {
    const { folder } = yield* shop
    const place = yield* newFolder
    const write = (file: string, text: string) =>
      Effect.promise(async () => {
        await fs.mkdir(join(place, file, ".."), { recursive: true })
        await fs.writeFile(join(place, file), text)
      })
    yield* write("welcome/meta.json", JSON.stringify({ Name: "Welcome", Subject: "Hi", LayoutTemplate: "base" }))
    yield* write("welcome/content.html", "<p>{{name}}</p>")
    yield* write("_layouts/base/meta.json", JSON.stringify({ Name: "Base", TemplateType: "Layout" }))
    yield* write("_layouts/base/content.html", "{{{ @content }}}")
    const done = yield* run({}, "postmark", folder, "--from", place)
    assert.strictEqual(done.output, `${folder} has 2 templates of Postmark.`)
    const yaml = yield* Effect.promise(() => fs.readFile(join(folder, "welcome", "template.yaml"), "utf8"))
    assert.match(yaml, /^layout: base$/mu)

    const noKey = yield* run({}, "sendgrid", folder)
    assert.strictEqual(noKey.code, 1)
    assert.match(noKey.errors, /Set SENDGRID_API_KEY to a key of SendGrid/u)
    assert.match((yield* run({}, "resend", folder, "--from", `${place}/none`)).errors, /there is no such file/u)
    yield* write("broken.json", "{")
    assert.match((yield* run({}, "resend", folder, "--from", join(place, "broken.json"))).errors, /is not JSON/u)
    const refusing = yield* serving(() => undefined)
    const refused = yield* run({ RESEND_API_KEY: "re_2" }, "resend", folder, "--url", refusing.url)
    assert.match(refused.errors, /answered 404/u)
  })
})
