// Installs the packages, builds the dashboard and bundles the code, so that a user who may not write in the checkout can
// run the service. Both are made on the Node that the service runs on: their tools ask for more than Node 20.
import { ensureBundle } from "./bundle.mjs"
import { ensureDashboard } from "./dashboard.mjs"
import { launch } from "./launch.mjs"

await launch({
  args: [],
  dev: false,
  before: async () => void (await Promise.all([ensureDashboard(), ensureBundle()])),
})
