import { existsSync, readFileSync } from "node:fs"
import { lockFiles } from "../../scripts/release/lockFiles.ts"
import { assert, describe, it } from "../support/effectTest.ts"

interface Locked {
  readonly version?: string
  readonly license?: string
  readonly link?: boolean
  readonly dev?: boolean
}

interface Installed {
  readonly version?: string
  readonly license?: string | { readonly type?: string }
}

const spoken = ({ license }: Installed): string | undefined => (typeof license === "object" ? license.type : license)

/** Licences that ask for nothing but their own text beside the code. */
const allowed = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "ISC",
  "MIT",
  "MIT-0",
  "Python-2.0",
  "Unlicense",
])

/** Builds the dashboard's style sheet and is never served; the MPL asks to publish changes to its files, and we make none. */
const isBuildTool = (path: string): boolean => /\/lightningcss(?:-[a-z0-9-]+)?$/.test(path)

const isAllowed = (expression: string): boolean =>
  expression
    .replaceAll(/[()]/g, "")
    .split(" OR ")
    .some((choice) => choice.split(" AND ").every((licence) => allowed.has(licence.trim())))

const locked = (file: string): ReadonlyArray<readonly [path: string, entry: Locked]> =>
  Object.entries((JSON.parse(readFileSync(file, "utf8")) as { readonly packages: Record<string, Locked> }).packages)

const LOCKS = lockFiles(".")

describe("licences", () => {
  // threat: licences
  it("every package that runs in production has a permissive licence", () => {
    const production = [...locked("package-lock.json"), ...locked("runtime/package-lock.json")].filter(
      ([path, entry]) => path.startsWith("node_modules/") && entry.link !== true && entry.dev !== true,
    )
    assert.isAbove(production.length, 20)
    assert.deepStrictEqual(
      production
        .filter(([path, entry]) => !isAllowed(entry.license ?? "none") && !isBuildTool(path))
        .map(([path, entry]) => [path, entry.license]),
      [],
    )
  })

  it("every package says of itself what the lock file says of it", () => {
    const installed = locked("package-lock.json").flatMap(([path, entry]) => {
      const file = `${path}/package.json`
      if (!path.startsWith("node_modules/") || entry.link === true || !existsSync(file)) return []
      return [{ path, entry, own: JSON.parse(readFileSync(file, "utf8")) as Installed }]
    })
    assert.isAbove(installed.length, 100)
    assert.deepStrictEqual(
      installed
        .filter(({ own, entry }) => own.version === entry.version && spoken(own) !== entry.license)
        .map(({ own, entry, path }) => [path, entry.license, spoken(own)]),
      [],
    )
  })

  // threat: licences
  it("no package at all has a licence that passes itself on, not even where we only build with it", () => {
    const copyleft = /\b(?:A?GPL|LGPL|EUPL|SSPL|OSL|CPAL|BUSL|CC-BY-SA)/iu
    assert.deepStrictEqual(
      LOCKS.flatMap(locked)
        .filter(([, { license = "" }]) => copyleft.test(license) && !isAllowed(license))
        .map(([path, { license }]) => [path, license]),
      [],
    )
  })

  it("an expression is allowed when one of its choices is, and refused when any of its parts is not", () => {
    assert.deepStrictEqual(["(MIT OR GPL-3.0)", "MIT AND ISC", "MIT AND GPL-3.0", "EUPL-1.2", "none"].map(isAllowed), [
      true,
      true,
      false,
      false,
      false,
    ])
  })
})
