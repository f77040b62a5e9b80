#!/usr/bin/env node
import { resolve } from "node:path"
import { ensureBundle, entry } from "./bundle.mjs"
import { ensureDashboard } from "./dashboard.mjs"
import { isPacked, say } from "./install.mjs"
import { launch, SERVICE_FLAGS } from "./launch.mjs"

/**
 * One Ctrl-C can arrive up to three times: from the terminal, which signals the whole process group, from npm, and from
 * the launcher. Signals within this time count as one; a later one is a second Ctrl-C, which stops at once.
 */
const SAME_KEYSTROKE_MS = 300
/** The time is counted in steps, so that one in which this process was suspended or busy counts as one step. */
const STEPS = 6

const stopOnSecondInterrupt = () => {
  let isOver = false
  const wait = (steps) => {
    if (steps === 0) isOver = true
    else setTimeout(wait, SAME_KEYSTROKE_MS / STEPS, steps - 1).unref()
  }
  process.once("SIGINT", () => wait(STEPS))
  process.on("SIGINT", () => {
    if (isOver) process.exit(130)
  })
}

const args = process.argv.slice(2)

// What follows may take seconds. A process that was started again in place has said so.
if (args[0] === "start" && process.stdout.isTTY && !process.execArgv.includes(SERVICE_FLAGS[0])) say("starting")

await launch({
  file: entry,
  args,
  dev: false,
  service: args[0] === "start",
  before: async () => {
    // The folder of a package belongs to npm, which may replace it at any time.
    if (isPacked) process.env.WAYBILL_DATA = resolve(process.env.WAYBILL_DATA || ".waybill")
    else if (args[0] === "start") await Promise.all([ensureDashboard(), ensureBundle()])
    else if (args[0] === "temporary") await ensureBundle()
    stopOnSecondInterrupt()
  },
})
