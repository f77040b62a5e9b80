import { customer, type Group } from "./Bound.ts"

const SCRIPT = "packages/domain/src/email/Script.ts"

/** Bounds of test mode, beside those that test mail shares with live mail. */
export const testModeBounds: ReadonlyArray<Group> = [
  {
    title: "Test mode",
    bounds: [customer("Steps of a script", "MAX_STEPS", SCRIPT, "400")],
  },
]
