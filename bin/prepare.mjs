// Installs the packages and builds the dashboard, so that a user who may not write in the checkout can run the service.
import { ensureDashboard } from "./dashboard.mjs"
import { ensureModules, ensureNode, Unavailable } from "./install.mjs"

try {
  await ensureNode()
  await ensureModules({ dev: false })
  await ensureDashboard()
} catch (error) {
  if (!(error instanceof Unavailable)) throw error
  process.stderr.write(`waybill: ${error.message}\n`)
  process.exitCode = error.exitCode
}
