// CommonJS beside both builds, because each of them has its own way to say where it is.
const { existsSync } = require("node:fs")
const { dirname, join } = require("node:path")
const { pathToFileURL } = require("node:url")

/** Returns the command of the installed package `waybill`, or of the checkout that this package is in. */
exports.findLauncher = () => {
  try {
    return join(dirname(require.resolve("waybill/package.json")), "bin", "waybill.mjs")
  } catch {
    const file = join(__dirname, "..", "..", "bin", "waybill.mjs")
    return existsSync(file) ? file : undefined
  }
}

/**
 * Returns the Node that runs the service. The launcher would start it too, in a process of its own; it does so where that
 * Node is not installed yet.
 */
exports.findNode = (launcher) =>
  import(pathToFileURL(join(dirname(launcher), "install.mjs")).href)
    .then(({ readyNode }) => readyNode() ?? process.execPath)
    .catch(() => process.execPath)
