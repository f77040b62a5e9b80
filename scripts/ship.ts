// Builds and starts the shipped artifacts: `npm run ship`, or single parts by name. Parts whose tools are missing on
// this machine are skipped and reported. Not part of the tests, which need only npm.
import { parseArgs } from "node:util"
import { compose } from "./ship/compose.ts"
import { flake } from "./ship/flake.ts"
import { image } from "./ship/image.ts"
import { makeScratch, type Run } from "./ship/Run.ts"
import { has } from "./ship/Shell.ts"
import { unit } from "./ship/unit.ts"

const PARTS = { image, compose, unit, flake }
type Part = keyof typeof PARTS
const isPart = (name: string): name is Part => name in PARTS

const USAGE = `Usage: npm run ship [-- [${Object.keys(PARTS).join("|")}]… [--base IMAGE | --stand-in]]
  --base IMAGE   base image, if node:24-alpine cannot be pulled
  --stand-in     build the base image from Debian packages and this Node\n`

const print = (word: string, part: Part, text: string) =>
  void process.stdout.write(`${word.padEnd(8)}  ${part.padEnd(7)}  ${text}\n`)

const parseOptions = () => {
  try {
    const { positionals, values } = parseArgs({
      allowPositionals: true,
      options: { base: { type: "string" }, "stand-in": { type: "boolean", default: false } },
    })
    const parts = positionals.filter(isPart)
    if (parts.length < positionals.length || (values.base !== undefined && values["stand-in"])) return undefined
    return { base: values.base, standIn: values["stand-in"], parts: parts.length > 0 ? parts : undefined }
  } catch {
    return undefined
  }
}

const main = async (): Promise<number> => {
  const wanted = parseOptions()
  if (wanted === undefined) {
    process.stderr.write(USAGE)
    return 64
  }
  if (wanted.standIn && !has("debootstrap")) {
    process.stderr.write("--stand-in requires debootstrap, which is not installed\n")
    return 64
  }
  await using ends = new AsyncDisposableStack()
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void ends.disposeAsync().then(() => process.exit(130)))
  const scratch = await makeScratch(ends)
  let failed = 0
  for (const part of wanted.parts ?? (Object.keys(PARTS) as ReadonlyArray<Part>)) {
    const task: Run = {
      ...wanted,
      scratch,
      ends,
      holds: (fact) => print("ok", part, fact),
      leftOut: (what, reason) => print("skipped", part, `${what}: ${reason}`),
    }
    await PARTS[part](task).catch((error: Error) => {
      failed += 1
      print("FAILED", part, error.message)
    })
  }
  return failed === 0 ? 0 : 1
}

process.exitCode = await main()
