// Queries npm's registry for advisories against the packages of the lock files: `npm run advisories`. Not part of `npm
// run check`, whose result depends on the checkout alone and needs no network.
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { found, isBad, type Packages, packagesOf } from "./advisories/found.ts"

const ROOT = join(import.meta.dirname, "..")
const LOCKS = ["package-lock.json", "runtime/package-lock.json"]
const ENDPOINT = "-/npm/v1/security/advisories/bulk"
const TIMEOUT_MS = 20_000
/** Returns the registry's response, or the reason why there is none. */
const ask = async (registry: string, packages: Packages): Promise<{ readonly answer: unknown } | string> => {
  try {
    const response = await fetch(new URL(ENDPOINT, registry.endsWith("/") ? registry : `${registry}/`), {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify(Object.fromEntries([...packages].map(([name, versions]) => [name, [...versions.keys()]]))),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    if (response.ok) return { answer: await response.json() }
    await response.body?.cancel()
    return [404, 405, 501].includes(response.status)
      ? `the registry does not support this query (HTTP ${response.status})`
      : `the registry answered with HTTP ${response.status}`
  } catch (error) {
    return error instanceof SyntaxError
      ? "the registry's response is not valid JSON"
      : `the registry cannot be reached (${reason(error)})`
  }
}

const reason = (error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) return String(cause)
  return "code" in cause && typeof cause.code === "string" ? cause.code : cause.message
}

const configured = async (): Promise<string> =>
  (
    await promisify(execFile)("npm", ["config", "get", "registry"], { cwd: ROOT, shell: process.platform === "win32" })
  ).stdout.trim()

const main = async () => {
  const print = (line: string) => void process.stdout.write(`${line}\n`)
  const packages = packagesOf(LOCKS.map((file) => readFileSync(join(ROOT, file), "utf8")))
  const registry = await configured().catch(() => undefined)
  if (registry === undefined) return print("not checked: npm's registry setting cannot be read")
  const asked = await ask(registry, packages)
  if (typeof asked === "string") return print(`not checked: ${asked}`)
  const all = found(packages, asked.answer)
  if (all === undefined) return print("not checked: the registry's response is not valid")
  for (const { name, production, severity, title, url, versions, vulnerable_versions } of all) {
    const where = production ? "" : ", development only"
    print(`${severity.padEnd(9)} ${name} ${versions.join(", ")} (${vulnerable_versions}${where}): ${title} ${url}`)
  }
  const bad = all.filter(isBad).length
  print(`${packages.size} packages checked: ${all.length} advisories, ${bad} of them high or critical`)
  process.exitCode = bad > 0 ? 1 : 0
}

await main()
