import { Effect } from "effect"
import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, beforeAll, layer } from "../../../support/effectTest.ts"
import * as CommandLine from "../../../support/process/CommandLine.ts"
import { HttpWorld, signUp } from "../../../support/world/HttpWorld.ts"

const INSTALLED = fileURLToPath(new URL(".", import.meta.url))

beforeAll(async () => {
  const { href } = new URL("../../../../bin/install.mjs", import.meta.url)
  const { ensureModules } = (await import(href)) as {
    readonly ensureModules: (options: { readonly dev: boolean; readonly folder: string }) => Promise<void>
  }
  await ensureModules({ dev: true, folder: INSTALLED })
}, 300_000)

const SETTINGS = JSON.stringify({
  variables: {
    type: "object",
    properties: { name: { type: "string" }, link: { type: "string" }, picture: { type: "string" } },
  },
})
const FILES = {
  "react/template.yaml": SETTINGS,
  "react/subject.liquid": "Hi {{ name }}\n",
  "react/html.tsx": `import { Body, Button, Html } from "@react-email/components"
    import { Greeting } from "./Greeting"
    type Props = { readonly name: string; readonly link: string }
    export default ({ link, name }: Props) => (
      <Html><Body><Greeting name={name} /><Button href={link}>Open</Button></Body></Html>
    )`,
  "react/Greeting.tsx": `import { Text } from "@react-email/components"
    export const Greeting = ({ name }: { readonly name: string }) => (
      <Text>Hi {name}, {"{{ 12.5 | money: 'EUR' }}"}</Text>
    )`,
  "mjml/template.yaml": SETTINGS,
  "mjml/subject.liquid": "Hi {{ name }}\n",
  "mjml/html.mjml": `<mjml><mj-body><mj-section background-url="{{ picture }}"><mj-column>
    <mj-text>Hi {{ name }}</mj-text><mj-button href="{{ link }}">Open</mj-button>
    </mj-column></mj-section></mj-body></mjml>`,
}

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "120 seconds" })(
  "a folder of components and MJML, in a project that has their compilers",
  (it) => {
    it.effect("is compiled and pushed, also what only Outlook reads of it", function* () {
      const { call, key, world } = yield* signUp({ domains: ["shop.test"] })
      const project = yield* Effect.acquireRelease(
        Effect.promise(() => fs.mkdtemp(join(tmpdir(), "waybill-compilers-"))),
        (folder) => Effect.promise(() => fs.rm(folder, { recursive: true, force: true })),
      )
      yield* Effect.promise(async () => {
        await fs.symlink(join(INSTALLED, "node_modules"), join(project, "node_modules"))
        for (const [name, text] of Object.entries(FILES)) {
          const file = join(project, "templates", name)
          await fs.mkdir(dirname(file), { recursive: true })
          await fs.writeFile(file, text)
        }
      })
      const env = { WAYBILL_URL: world.url, WAYBILL_KEY: key }
      const { exit, output } = yield* CommandLine.typeWith(
        env,
        "templates",
        "push",
        join(project, "templates"),
        "--publish",
      )
      assert.strictEqual(CommandLine.codeOf(exit), 0, output)
      const render = Effect.fnUntraced(function* (alias: string) {
        const variables = { name: "<Ana>", link: "javascript:x", picture: "https://shop.test/a--b.png" }
        const { json } = yield* call("POST", `/v1/templates/${alias}/render`, { variables, locale: "de" })
        return json.html as string
      })
      const react = yield* render("react")
      for (const part of ["Hi ", "&lt;Ana&gt;", "12,50\u00a0€", 'href="about:blank#blocked"'])
        assert.include(react, part)
      const mjml = yield* render("mjml")
      for (const part of ["Hi &lt;Ana&gt;", 'href="about:blank#blocked"']) assert.include(mjml, part)
      assert.include(mjml, 'src="https://shop.test/a&#45;&#45;b.png"')
    })
  },
)
