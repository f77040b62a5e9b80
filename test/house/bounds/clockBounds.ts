import { customer, type Group, operator } from "./Bound.ts"

const CLOCKS = "packages/domain/src/clock/TestClockLimits.ts"

/** Bounds of test clocks and their advances. */
export const clockBounds: Group = {
  title: "Test clocks",
  bounds: [
    customer("Test clocks of an account", "MAX_CLOCKS", CLOCKS, "422 `too_many_test_clocks`"),
    customer("Days by which one request advances a test clock", "MAX_ADVANCE_DAYS", CLOCKS, "422 `advance_too_far`"),
    customer(
      "Real minutes of one advance",
      "MAX_ADVANCE_MINUTES",
      CLOCKS,
      "the advance ends at the time reached: `stopped` is `took_too_long`",
    ),
    operator(
      "Test clocks that one process advances at once",
      "MAX_ADVANCES",
      "apps/server/src/worker/periodic/advanceTestClocks.ts",
      "the other advances wait",
    ),
  ],
}
