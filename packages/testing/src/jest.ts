// Adds the matchers to Jest: `import "@waybill/testing/jest"` in a test or in a file of `setupFilesAfterEnv`.
import { type Expected, matchers } from "./matchers.ts"

declare global {
  namespace jest {
    interface Matchers<R, T = {}> {
      /** The service accepted a message, whatever happened to it. */
      toHaveBeenSent(expected?: Expected): Promise<void>
      /** A message was delivered to a recipient. */
      toHaveBeenDelivered(expected?: Expected): Promise<void>
    }
  }
}

const { expect } = globalThis as { readonly expect?: { readonly extend: (matchers: object) => void } }
if (expect === undefined) throw new Error("`@waybill/testing/jest` is for tests of Jest, whose `expect` is global.")
expect.extend(matchers)
