// Adds the matchers to vitest: `import "@waybill/testing/vitest"` in a test or in a file of `setupFiles`.
import { expect } from "vitest"
import { type Expected, matchers } from "./matchers.ts"

declare global {
  // The assertions of each version of vitest have those of Chai.
  namespace Chai {
    interface Assertion {
      /** The service accepted a message, whatever happened to it. */
      toHaveBeenSent(expected?: Expected): Promise<void>
      /** A message was delivered to a recipient. */
      toHaveBeenDelivered(expected?: Expected): Promise<void>
    }
  }
}

expect.extend(matchers)
