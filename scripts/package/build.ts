// Builds what `npm pack` puts into the package beside the sources that it copies: npm runs this as `prepack`.
import { existsSync, globSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { bundle, DIST } from "./bundle.ts"
import { notices } from "./notices.ts"
import { manifest, ROOT } from "./Manifest.ts"
import { sbom } from "./sbom.ts"

/** Plain JavaScript, which the launcher shares. */
const { ensureDashboard } = (await import(new URL("../../bin/dashboard.mjs", import.meta.url).href)) as {
  readonly ensureDashboard: () => Promise<void>
}

rmSync(DIST, { recursive: true, force: true })
await ensureDashboard()
await bundle()
writeFileSync(join(DIST, "third-party-licences.txt"), notices())
writeFileSync(join(DIST, "sbom.cdx.json"), sbom())
// npm says nothing about an entry of `files` that matches nothing.
const missing = manifest.files.filter((pattern) => globSync(pattern, { cwd: ROOT }).length === 0)
if (missing.length > 0 || !existsSync(join(ROOT, "apps/dashboard/dist/index.html")))
  throw new Error(`the package would lack ${missing.join(", ") || "the dashboard"}`)
