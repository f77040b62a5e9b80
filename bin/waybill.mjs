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
  let isOver = false
  process.on("SIGINT", () => {
    if (isOver) process.exit(130)
    // A timer, followed by a turn of the event loop, instead of the clock: signals that arrived while this process was
    // suspended or busy are handled in that turn, and are not late.
    setTimeout(() => setImmediate(() => (isOver = true)), SAME_KEYSTROKE_MS).unref()
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
