import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

export const ROOT = fileURLToPath(new URL("../../", import.meta.url))

/** The package.json of the checkout, which is also that of the package. */
export const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly files: ReadonlyArray<string>
  readonly optionalDependencies: Readonly<Record<string, string>>
}
