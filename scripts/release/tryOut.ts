import { execFile, spawn } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { promisify } from "node:util"
import type { Packed } from "./pack.ts"
import { sampleOf } from "./sampleOf.ts"

const run = promisify(execFile)
const WITHIN_MS = 120_000

interface Instance {
  readonly url: string
  readonly key: string
  readonly stop: () => Promise<void>
}

/** Starts an instance that is deleted when its standard input ends. */
const temporary = async (project: string): Promise<Instance> => {
  const child = spawn("npx", ["waybill", "temporary"], { cwd: project, stdio: ["pipe", "pipe", "inherit"] })
  const gone = new Promise<void>((resolve) => child.once("close", () => resolve()))
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('{"object":"temporary_instance"')) continue
    const { key, url } = JSON.parse(line) as { readonly key: string; readonly url: string }
    return { key, url, stop: () => (child.stdin.end(), gone) }
  }
  throw new Error("waybill temporary ended before it was ready")
}

/** A program for each package: the first one of its README, made whole where it leaves something to the reader. */
const programs = (root: string, { url }: Instance): Readonly<Record<string, string>> => {
  const readme = (name: string) => sampleOf(readFileSync(join(root, "packages", name, "README.md"), "utf8"))
  const mail = `{ from: "hi@acme.test", to: "ana@example.org", subject: "Reset your password", html: '<a href="https://acme.test/r">Reset password</a>' }`
  const sending = `await fetch(mail.url + "/v1/email/send", { method: "POST", headers: { authorization: "Bearer " + mail.key, "content-type": "application/json" }, body: JSON.stringify(${mail}) })`
  return {
    client: readme("client"),
    "nodemailer-transport": readme("nodemailer-transport").replace("https://mail.example.com", url),
    verify: readme("verify"),
    testing: readme("testing")
      .replace(/^\/\/ Your code sends.*$/mu, sending)
      .replace("await mail.stop()", "console.log(link)\nawait mail.stop()"),
    redirect: `const { status, ok } = await fetch("https://api.resend.com/emails", { method: "POST", headers: { authorization: "Bearer " + process.env.WAYBILL_KEY, "content-type": "application/json" }, body: JSON.stringify(${mail}) })
      if (!ok) throw new Error("status " + status)
      console.log(status)`,
  }
}

/** Installs packages in an empty project and runs what their READMEs begin with. Returns a line for each. */
export const tryOut = async (
  root: string,
  scratch: string,
  packed: ReadonlyArray<Packed>,
  nodemailer: string,
): Promise<ReadonlyArray<string>> => {
  const project = join(scratch, "project")
  mkdirSync(project)
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "empty", private: true, type: "module" }))
  const tarballs = packed.map(({ tarball }) => tarball)
  await run("npm", ["install", "--no-audit", "--no-fund", ...tarballs, `nodemailer@${nodemailer}`], { cwd: project })
  const instance = await temporary(project)
  try {
    const env = { ...process.env, WAYBILL_KEY: instance.key, WAYBILL_URL: instance.url }
    const lines: Array<string> = []
    for (const [name, program] of Object.entries(programs(root, instance))) {
      writeFileSync(join(project, `${name}.mjs`), program)
      const preload = name === "redirect" ? ["--import=@waybill/redirect"] : []
      const { stdout } = await run(process.execPath, [...preload, `${name}.mjs`], {
        cwd: project,
        env,
        timeout: WITHIN_MS,
      })
      lines.push(`${name}: ${stdout.trim().split("\n").at(-1) ?? ""}`)
    }
    return lines
  } finally {
    await instance.stop()
  }
}
