import { customer, type Group } from "./Bound.ts"

const CLOCKS = "packages/domain/src/clock/TestClockLimits.ts"

/** Bounds of test clocks and their advances. */
export const clockBounds: Group = {
  title: "Test clocks",
  bounds: [
    customer("Test clocks of an account", "MAX_CLOCKS", CLOCKS, "422 `too_many_test_clocks`"),
    customer("Days by which one request advances a test clock", "MAX_ADVANCE_DAYS", CLOCKS, "422 `advance_too_far`"),
  ],
}
