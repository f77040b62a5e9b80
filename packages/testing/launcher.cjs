// CommonJS beside both builds, because each of them has its own way to say where it is.
const { existsSync } = require("node:fs")
const { dirname, join } = require("node:path")

/** Returns the command of the installed package `waybill`, or of the checkout that this package is in. */
exports.findLauncher = () => {
  try {
    return join(dirname(require.resolve("waybill/package.json")), "bin", "waybill.mjs")
  } catch {
    const file = join(__dirname, "..", "..", "bin", "waybill.mjs")
    return existsSync(file) ? file : undefined
  }
}
