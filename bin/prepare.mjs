// Installs the packages, builds the dashboard and bundles the code, so that a user without write access to the checkout
// can run the service. The build tools need a newer Node than 20, so they run on the Node of the service.
import { ensureBundle } from "./bundle.mjs"
import { ensureDashboard } from "./dashboard.mjs"
import { launch } from "./launch.mjs"

await launch({
  args: [],
  dev: false,
  before: async () => void (await Promise.all([ensureDashboard(), ensureBundle()])),
})
