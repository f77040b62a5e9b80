import * as Arbitrary from "effect/Arbitrary"
import { reuseSlowCrypto } from "./reuseSlowCrypto.ts"

/**
 * Seed of property tests. The same cases run each time, so that a result depends only on the change.
 * `WAYBILL_FUZZ_SEED` sets another seed; with `random` each property chooses its own, and a failure prints how to
 * repeat it.
 */
const seed = process.env["WAYBILL_FUZZ_SEED"] ?? "20261121"
/** Size up to which values grow. With the default no generated history is longer than its minimum. */
const size = 100
Arbitrary.configureGlobal({ check: seed === "random" ? { size } : { seed, size } })

reuseSlowCrypto()
