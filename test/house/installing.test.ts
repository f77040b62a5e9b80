import { existsSync, globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"

interface Manifest {
  readonly name: string
  readonly version: string
}
const manifestOf = (folder: string) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest
const READMES = globSync("packages/*/README.md").filter((readme) => existsSync(join(readme, "../package.json")))
const TARBALL = /\.\.\/waybill\/([\w/-]*?)\/?([\w-]+-\d+\.\d+\.\d+(?:-[a-z]+\.\d+)?\.tgz)/gu

describe("the packages that are not in the registry", () => {
  it("say how to install them from a checkout, by the files that `npm pack` writes", () => {
    assert.lengthOf(READMES, 5)
    for (const readme of READMES) {
      const text = readFileSync(readme, "utf8")
      const named = [...text.matchAll(TARBALL)]
      assert.isAbove(named.length, 0, readme)
      for (const [, folder = "", file = ""] of named) {
        assert.isTrue(existsSync(join(folder, "package.json")), folder)
        const { name, version } = manifestOf(folder)
        assert.strictEqual(file, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`, readme)
        assert.include(text, `(cd ../waybill${folder === "" ? "" : `/${folder}`} && npm pack)`, readme)
      }
      assert.notMatch(text, /npm (?:install|i) (?:--save-dev )?@?waybill/u, readme)
    }
  })
})
