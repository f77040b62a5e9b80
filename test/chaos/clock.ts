import { readFileSync } from "node:fs"
import { shiftDate } from "../support/process/shiftDate.ts"

/**
 * Loaded before a process of the storm: shifts its wall clock by the milliseconds in a file, which it reads again at
 * each SIGUSR2.
 */
const file = process.env["WAYBILL_CHAOS_CLOCK"] ?? ""
let off = 0

shiftDate(() => off)
process.on("SIGUSR2", () => (off = Number(readFileSync(file, "utf8"))))
