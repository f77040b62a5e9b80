// npm run release -- VERSION [--to FOLDER] [--publish]: makes the packages of a release and tries them out.
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { parseArgs, promisify } from "node:util"
import { ROOT } from "./package/Manifest.ts"
import { sbom } from "./package/sbom.ts"
import { withRelease } from "./release/changelog.ts"
import { problemsOf } from "./release/check.ts"
import { PACKAGES, type Packed, packPackage, packService } from "./release/pack.ts"
import { setVersions } from "./release/setVersions.ts"
import { tryOut } from "./release/tryOut.ts"
import { isAfter, parse, type Version } from "./release/Version.ts"

const run = promisify(execFile)
const USAGE = `Usage: npm run release -- VERSION [--to FOLDER] [--publish]
  VERSION     such as 1.0.0 or 1.0.0-rc.1
  --to        folder for the packages (release)
  --publish   publish them; everything else is done without it too\n`

const say = (text: string) => void process.stdout.write(`${text}\n`)
const manifest = () =>
  JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    readonly version: string
    readonly devDependencies: Readonly<Record<string, string>>
  }

const options = () => {
  try {
    const { positionals, values } = parseArgs({
      allowPositionals: true,
      options: { to: { type: "string", default: "release" }, publish: { type: "boolean", default: false } },
    })
    const version = positionals.length === 1 ? parse(positionals[0] ?? "") : undefined
    return version === undefined ? undefined : { version, ...values }
  } catch {
    return undefined
  }
}

/** Writes the version and the changelog's heading. A run that failed later is repeated with the same version. */
const prepare = async (version: Version): Promise<void> => {
  const now = parse(manifest().version)
  if (now === undefined) throw new Error(`package.json has the version ${manifest().version}`)
  if (now.text === version.text) return say(`already at ${version.text}`)
  if (!isAfter(version, now)) throw new Error(`${version.text} does not come after ${now.text}`)
  const { stdout } = await run("git", ["status", "--porcelain"], { cwd: ROOT })
  if (stdout !== "") throw new Error(`commit these first:\n${stdout}`)
  const changelog = join(ROOT, "CHANGELOG.md")
  const [day = ""] = new Date().toISOString().split("T", 1)
  writeFileSync(changelog, withRelease(readFileSync(changelog, "utf8"), version.text, day))
  setVersions(ROOT, now, version)
  say(`set ${now.text} to ${version.text}`)
}

const publish = async ({ name, tarball }: Packed, { isPrerelease }: Version): Promise<void> => {
  const tag = isPrerelease ? "next" : "latest"
  await run("npm", ["publish", tarball, "--access", "public", "--provenance", "--tag", tag], { cwd: ROOT })
  say(`published ${name}`)
}

const main = async (): Promise<number> => {
  const wanted = options()
  if (wanted === undefined) {
    process.stderr.write(USAGE)
    return 64
  }
  const to = resolve(ROOT, wanted.to)
  const scratch = mkdtempSync(join(tmpdir(), "waybill-release-"))
  try {
    await prepare(wanted.version)
    rmSync(to, { recursive: true, force: true })
    mkdirSync(to, { recursive: true })
    const packed = [await packService(ROOT, to)]
    for (const name of PACKAGES) packed.push(await packPackage(ROOT, name, scratch, to))
    let failed = 0
    for (const each of packed) {
      const problems = await problemsOf(each)
      failed += problems.length
      say(`${each.name}: ${Math.ceil(each.size / 1_000)} KB, ${each.files.length} files`)
      for (const problem of problems) say(`  FAILED: ${problem}`)
    }
    writeFileSync(join(to, "sbom.cdx.json"), sbom())
    if (failed > 0) return 1
    for (const line of await tryOut(ROOT, scratch, packed, manifest().devDependencies["nodemailer"] ?? "latest"))
      say(`ran the sample of ${line}`)
    if (wanted.publish) for (const each of packed) await publish(each, wanted.version)
    else say(`${to} is ready. Look at the changes, commit and tag them, then run this again with --publish.`)
    return 0
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

process.exitCode = await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`)
  return 1
})
