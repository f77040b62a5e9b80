import * as Arbitrary from "effect/Arbitrary"

/**
 * Properties look at the same cases in each run, so that a change is judged by what it changes. `WAYBILL_FUZZ_SEED` has
 * them look elsewhere; `random` lets each choose for itself, and a failure says how to see it again.
 */
const seed = process.env["WAYBILL_FUZZ_SEED"] ?? "20261121"
/** What they grow to. With the size that comes along, no history was ever longer than its least length. */
const size = 100
Arbitrary.configureGlobal({ check: seed === "random" ? { size } : { seed, size } })
