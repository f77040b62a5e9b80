import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { loadRolldown } from "../package/bundle.ts"
import { ROOT } from "../package/Manifest.ts"

const FOLDER = join(ROOT, "packages", "verify")
export const PAGE = join(FOLDER, "verify.html")

/** Returns the page, with its script inline: one file that works offline, and that people can read. */
export const writtenPage = async (): Promise<string> => {
  const { rolldown } = await loadRolldown()
  const bundle = await rolldown({
    cwd: ROOT,
    input: join(FOLDER, "src", "page.ts"),
    tsconfig: false,
    logLevel: "silent",
  })
  const { output } = await bundle.generate({ format: "iife" })
  const script = `\n${output.map(({ code = "" }) => code).join("")}`
  const hash = `'sha256-${createHash("sha256").update(script).digest("base64")}'`
  return readFileSync(join(FOLDER, "page.html"), "utf8")
    .replace("SCRIPT_HASH", () => hash)
    .replace("SCRIPT", () => script)
}
