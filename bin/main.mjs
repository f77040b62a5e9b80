// Runs the command on the current Node without installing or building anything. For processes that this checkout itself
// starts repeatedly.
import module from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { entry } from "./bundle.mjs"
import { root } from "./install.mjs"

module.enableCompileCache?.(join(root, "node_modules", ".cache", "waybill"))
await import(pathToFileURL(entry()).href)
