import { readFileSync } from "node:fs"

/**
 * Loaded before a process of the storm: shifts its wall clock by the milliseconds in a file, which it reads again at
 * each SIGUSR2. Timers and the monotonic clock are not shifted, as when an operator sets the time.
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
