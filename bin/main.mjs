// The command on a Node that can, without looking after anything: for what this checkout itself starts, again and again.
import module from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { entry } from "./bundle.mjs"
import { root } from "./install.mjs"

module.enableCompileCache?.(join(root, "node_modules", ".cache", "waybill"))
await import(pathToFileURL(entry()).href)
