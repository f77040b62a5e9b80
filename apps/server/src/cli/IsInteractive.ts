import { Context } from "effect"

/** Whether a person reads what a command asks, and can answer. In a script nobody does. */
export const IsInteractive = Context.Reference<boolean>("@waybill/server/cli/IsInteractive", {
  defaultValue: () => process.stdin.isTTY,
})
