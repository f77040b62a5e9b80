import { readFileSync } from "node:fs"

/**
 * Loaded before the service, in a process of the storm: its wall clock is off by as many milliseconds as a file says,
 * read anew at each SIGUSR2. Timers and the steady clock go on as they were, as they do when somebody sets the time.
 */
const file = process.env["WAYBILL_CHAOS_CLOCK"] ?? ""
const Real = globalThis.Date
const now = Real.now.bind(Real)
let off = 0

Real.now = () => now() + off
const Shifted = new Proxy(Real, {
  construct: (target, args, as) => Reflect.construct(target, args.length === 0 ? [Real.now()] : args, as) as Date,
  apply: () => new Real(Real.now()).toString(),
})
Real.prototype.constructor = Shifted
globalThis.Date = Shifted
process.on("SIGUSR2", () => (off = Number(readFileSync(file, "utf8"))))
