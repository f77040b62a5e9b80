import { spawnSync } from "node:child_process"
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

export interface Language {
  readonly name: string
  readonly interpreter: string
  /** Oldest version that the client supports. */
  readonly minimum: string
  readonly folder: string
  /** Source files, below the folder of the package. */
  readonly sources: string
  /** Runs the tests of the package in its folder. */
  readonly tests: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
  /** Name of the language in the samples of the README, and how to run all of them. */
  readonly samples: {
    readonly name: string
    /** Returns the arguments of the interpreter. The second argument is an empty folder. */
    readonly run: (program: string, scratch: string) => ReadonlyArray<string>
  }
}

const folder = (name: string) => fileURLToPath(new URL(`../../packages/${name}`, import.meta.url))

/** Samples of Go with what is around them in a program. */
const goProgram = (samples: string) => `package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"

	"waybill.example/waybill"
)

func main() {
	ctx := context.Background()
${samples}
}
`

export const LANGUAGES: ReadonlyArray<Language> = [
  {
    name: "Go",
    interpreter: "go",
    minimum: "1.19",
    folder: folder("client-go"),
    sources: "*.go",
    tests: ["test", "-count=1", "./..."],
    env: { GOTOOLCHAIN: "local", GOPROXY: "off", GOFLAGS: "-buildvcs=false" },
    samples: {
      name: "go",
      run: (program, scratch) => {
        writeFileSync(join(scratch, "main.go"), goProgram(program))
        return ["run", join(scratch, "main.go")]
      },
    },
  },
  {
    name: "PHP",
    interpreter: "php",
    minimum: "8.1",
    folder: folder("client-php"),
    sources: "src/*.php",
    tests: ["-d", "error_reporting=-1", "tests/client.php"],
    samples: {
      name: "php",
      run: (program, scratch) => {
        writeFileSync(join(scratch, "samples.php"), `<?php\n${program}`)
        return ["-d", "auto_prepend_file=tests/support.php", join(scratch, "samples.php")]
      },
    },
  },
  {
    name: "Python",
    interpreter: "python3",
    minimum: "3.9",
    folder: folder("client-python"),
    sources: "waybill/*.py",
    tests: ["-B", "-W", "error", "tests/test_client.py"],
    env: { PYTHONPATH: "." },
    samples: { name: "python", run: (program) => ["-B", "-W", "error", "-c", program] },
  },
  {
    name: "Ruby",
    interpreter: "ruby",
    minimum: "3.0",
    folder: folder("client-ruby"),
    sources: "lib/**/*.rb",
    tests: ["-w", "-Ilib", "test/webhook_test.rb"],
    samples: { name: "ruby", run: (program) => ["-w", "-Ilib", "-e", program] },
  },
]

/** Version of an interpreter, such as `[3, 11]`; undefined if it is not installed. */
const versionOf = (interpreter: string): ReadonlyArray<number> | undefined =>
  ["--version", "version"]
    .map((argument) => spawnSync(interpreter, [argument], { encoding: "utf8" }))
    .flatMap(({ status, stdout }) => (status === 0 ? [/\d+\.\d+/u.exec(stdout)?.[0].split(".").map(Number)] : []))[0]

export const isInstalled = ({ interpreter, minimum }: Language): boolean => {
  const [major = 0, minor = 0] = versionOf(interpreter) ?? []
  const [leastMajor = 0, leastMinor = 0] = minimum.split(".").map(Number)
  return major > leastMajor || (major === leastMajor && minor >= leastMinor)
}

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
