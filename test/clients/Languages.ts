import { spawnSync } from "node:child_process"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

export interface Language {
  readonly name: string
  readonly interpreter: string
  readonly folder: string
  /** Source files, below the folder of the package. */
  readonly sources: string
  /** Runs the tests of the package in its folder. */
  readonly tests: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
  /** Name of the language in the samples of the README, and how to run all of them. */
  readonly samples: { readonly name: string; readonly run: (program: string) => ReadonlyArray<string> }
}

const folder = (name: string) => fileURLToPath(new URL(`../../packages/${name}`, import.meta.url))

export const LANGUAGES: ReadonlyArray<Language> = [
  {
    name: "Python",
    interpreter: "python3",
    folder: folder("client-python"),
    sources: "waybill/*.py",
    tests: ["-B", "-W", "error", "tests/test_client.py"],
    env: { PYTHONPATH: "." },
    samples: { name: "python", run: (program) => ["-B", "-W", "error", "-c", program] },
  },
]

export const isInstalled = ({ interpreter }: Language): boolean =>
  ["--version", "version"].some((argument) => spawnSync(interpreter, [argument], { stdio: "ignore" }).status === 0)

/** Operations in the source of a client, such as `GET /v1/email/logs/{id}`. */
export const operationsIn = ({ folder, sources }: Language): ReadonlyArray<string> => {
  const texts = globSync(sources, { cwd: folder })
    .filter((file) => !/test/u.test(file))
    .map((file) => readFileSync(join(folder, file), "utf8"))
  const literals = texts.flatMap((text) => [...text.matchAll(/["']((?:GET|POST|PATCH|PUT|DELETE) \/v1\/[^"']*)["']/gu)])
  return [...new Set(literals.map(([, operation = ""]) => operation))].toSorted()
}

/** Samples of the README as one program, without those that need a package: their fence names it after the language. */
export const samplesOf = ({ folder, samples }: Language): string => {
  const text = readFileSync(join(folder, "README.md"), "utf8")
  const fences = text.matchAll(new RegExp(`^\`\`\`${samples.name}\\n([^]*?)^\`\`\`$`, "gmu"))
  return [...fences].map(([, sample = ""]) => sample).join("\n")
}
