import { customer, type Group } from "./Bound.ts"

const SCRIPT = "packages/domain/src/email/Script.ts"

/** Bounds of test mode, beside those that test mail shares with live mail. */
export const testModeBounds: ReadonlyArray<Group> = [
  {
    title: "Test mode",
    bounds: [
      customer("`X-Waybill-Script`", "MAX_SCRIPT_CHARS", SCRIPT, "400"),
      customer("Steps of a script", "MAX_STEPS", SCRIPT, "400"),
    ],
  },
]
