import { execFile } from "node:child_process"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { deadTargets, type Packed } from "./pack.ts"

const run = promisify(execFile)

/** Largest packed size: of the service, and of a package that has no dependencies. */
const MAX_BYTES = { waybill: 6_000_000, others: 150_000 }
/** Packages of which a part is for ES modules only, as what loads it is: Node's `--import`, vitest, browsers. */
const FOR_MODULES = ["@waybill/redirect", "@waybill/testing", "@waybill/verify"]

const attw = (): string =>
  join(dirname(createRequire(import.meta.url).resolve("@arethetypeswrong/cli/package.json")), "dist", "index.js")

/** Returns what is wrong with the types for any way in which TypeScript finds them: node10, node16, bundlers. */
const wrongTypes = async ({ name, tarball }: Packed): Promise<ReadonlyArray<string>> => {
  const rules = FOR_MODULES.includes(name) ? ["--ignore-rules", "cjs-resolves-to-esm"] : []
  return run(process.execPath, [attw(), tarball, "--format", "ascii", "--no-color", "--no-emoji", ...rules]).then(
    () => [],
    ({ stdout }: { readonly stdout?: string }) => [`types: ${stdout ?? "arethetypeswrong did not run"}`],
  )
}

/** Returns what keeps a packed package from being published. */
export const problemsOf = async (packed: Packed): Promise<ReadonlyArray<string>> => {
  const { exports, files, name, size } = packed
  const isService = name === "waybill"
  const largest = isService ? MAX_BYTES.waybill : MAX_BYTES.others
  return [
    ...deadTargets(exports, files).map((path) => `exports ${path}, which is not packed`),
    ...(size > largest ? [`is ${size} bytes, and at most ${largest} are allowed`] : []),
    ...(files.some((file) => /^(?:readme|license)/iu.test(file)) ? [] : ["has no README"]),
    ...(isService ? [] : await wrongTypes(packed)),
  ]
}
