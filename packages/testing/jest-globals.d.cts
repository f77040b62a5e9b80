import type { Expected } from "./dist/cjs/matchers.js"

declare module "expect" {
  interface Matchers<R extends void | Promise<void>, T = unknown> {
    /** The service accepted a message, whatever happened to it. */
    toHaveBeenSent(expected?: Expected): Promise<void>
    /** A message was delivered to a recipient. */
    toHaveBeenDelivered(expected?: Expected): Promise<void>
  }
}
