#!/usr/bin/env node
import { ensureBundle, entry } from "./bundle.mjs"
import { ensureDashboard } from "./dashboard.mjs"
import { launch } from "./launch.mjs"

/**
 * One Ctrl-C can arrive up to three times: from the terminal, which signals the whole process group, from npm, and from
 * the launcher. Signals within this time count as one; a later one is a second Ctrl-C, which stops at once.
 */
const SAME_KEYSTROKE_MS = 300

const stopOnSecondInterrupt = () => {
  let first
  process.on("SIGINT", () => {
    first ??= performance.now()
    if (performance.now() - first > SAME_KEYSTROKE_MS) process.exit(130)
  })
}

const args = process.argv.slice(2)

await launch({
  file: entry,
  args,
  dev: false,
  before: async () => {
    if (args[0] === "start") await Promise.all([ensureDashboard(), ensureBundle()])
    stopOnSecondInterrupt()
  },
})
