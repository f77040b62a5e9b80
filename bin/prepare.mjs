// Installs the packages, builds the dashboard and bundles the code, so that a user who may not write in the checkout can
// run the service.
import { ensureBundle } from "./bundle.mjs"
import { ensureDashboard } from "./dashboard.mjs"
import { ensureModules, ensureNode, Unavailable } from "./install.mjs"

try {
  await ensureNode()
  await ensureModules({ dev: false })
  await Promise.all([ensureDashboard(), ensureBundle()])
} catch (error) {
  if (!(error instanceof Unavailable)) throw error
  process.stderr.write(`waybill: ${error.message}\n`)
  process.exitCode = error.exitCode
}
