import { Effect } from "effect"
import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as TemplateFolder from "../../../../apps/server/src/cli/remote/templates/TemplateFolder.ts"
import { assert, describe, it } from "../../../support/effectTest.ts"

const MODULES = fileURLToPath(new URL("../../../../node_modules/", import.meta.url))
const SETTINGS = JSON.stringify({ variables: { type: "object", properties: { name: { type: "string" } } } })

/** Returns a folder with a template, and with packages as somebody has installed them beside it. */
const project = (files: Readonly<Record<string, string>>, linked: ReadonlyArray<string> = []) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const folder = await fs.mkdtemp(join(tmpdir(), "waybill-sources-"))
      for (const [file, text] of Object.entries({ "hello/template.yaml": SETTINGS, ...files })) {
        await fs.mkdir(join(folder, file, ".."), { recursive: true })
        await fs.writeFile(join(folder, file), text)
      }
      for (const name of linked) {
        await fs.mkdir(join(folder, "node_modules", name, ".."), { recursive: true })
        await fs.symlink(join(MODULES, name), join(folder, "node_modules", name))
      }
      return join(folder, "hello")
    }),
    (folder) => Effect.promise(() => fs.rm(join(folder, ".."), { recursive: true })),
  )

const read = (folder: string) =>
  Effect.promise(() =>
    TemplateFolder.read(folder).then(
      ({ html }) => html,
      (error: Error) => error.message.replaceAll(`${folder}/`, ""),
    ),
  )

/** The module that esbuild would make of a component, so that no compiler is needed here. */
const BUNDLED = `import { createElement } from "react"
export default ({ name }) => createElement("p", { title: name }, name, " ", '{{ total | money: "EUR" }}')`
const ESBUILD = {
  "node_modules/esbuild/package.json": '{"name":"esbuild","main":"main.js"}',
  "node_modules/esbuild/main.js": `exports.build = async ({ entryPoints, jsx, packages }) => {
    if (jsx !== "automatic" || packages !== "external") throw new Error("options")
    const text = require("fs").readFileSync(entryPoints[0], "utf8")
    if (text.includes("broken")) throw new Error("Build failed")
    return { outputFiles: [{ text }] }
  }`,
}
const REACT = ["react", "react-dom", "@react-email/render"]

describe("a source that is compiled here", () => {
  it.effect("of React becomes HTML with the variables of the schema", function* () {
    const folder = yield* project({ ...ESBUILD, "hello/html.tsx": BUNDLED }, REACT)
    const html = yield* read(folder)
    assert.match(html ?? "", /<p title="\{\{ name \}\}">\{\{ name \}\}.*\{\{ total \| money: "EUR" \}\}<\/p>/u)
    assert.deepStrictEqual((yield* Effect.promise(() => fs.readdir(folder))).sort(), ["html.tsx", "template.yaml"])
  })

  it.effect("of MJML becomes HTML, whether or not its compiler waits", function* () {
    for (const prefix of ["", "async "]) {
      const mjml = `module.exports = ${prefix}(text, { filePath }) => text.includes("<bad>")
        ? { html: "", errors: [{ formattedMessage: "Line 1: bad" }] }
        : { html: text.replace("mj-text", "p").replace("/mj-text", "/p"), errors: [] }`
      const files = {
        "node_modules/mjml/package.json": '{"name":"mjml","main":"main.js"}',
        "node_modules/mjml/main.js": mjml,
      }
      const folder = yield* project({
        ...files,
        "hello/html.mjml": "<mj-text>{{ name | default: &quot;you&quot; }}</mj-text>",
      })
      assert.strictEqual(yield* read(folder), '<p>{{ name | default: "you" }}</p>')
      yield* Effect.promise(() => fs.writeFile(join(folder, "html.mjml"), "<bad>"))
      assert.strictEqual(yield* read(folder), "html.mjml: Line 1: bad")
    }
  })

  it.effect("says which package is missing, and what is wrong", function* () {
    const mjml = yield* project({ "hello/html.mjml": "<mjml></mjml>" })
    assert.strictEqual(yield* read(mjml), "html.mjml needs the package mjml. Run: npm install --save-dev mjml")
    const react = yield* project({ "hello/de/html.tsx": BUNDLED })
    assert.match(
      (yield* read(react)) ?? "",
      /^de\/html\.tsx needs the package esbuild\. Run: npm install --save-dev react react-dom @react-email\/components esbuild$/u,
    )
    const broken = yield* project({ ...ESBUILD, "hello/html.tsx": "broken" }, REACT)
    assert.strictEqual(yield* read(broken), "html.tsx: Build failed")
    const none = yield* project({ ...ESBUILD, "hello/html.tsx": "export const a = 1" }, REACT)
    assert.strictEqual(yield* read(none), "html.tsx: must export a component by default")
  })
})
