import * as Criteria from "./Criteria.ts"
import type { TestInstance } from "./TestInstance.ts"
import { describe } from "./Mailbox.ts"
import { DEFAULT_TIMEOUT_MS } from "./Waiting.ts"

interface Result {
  readonly pass: boolean
  readonly message: () => string
}

interface Context {
  readonly isNot?: boolean
}

/** The messages that an assertion looks for, and how long it waits. */
export interface Expected extends Criteria.Criteria {
  /** Milliseconds to wait for it, 4,000 by default. An assertion with `not` does not wait. */
  readonly timeout?: number
}

const matcher = (list: "sent" | "delivered") =>
  async function (
    this: Context,
    mail: TestInstance,
    { timeout = DEFAULT_TIMEOUT_MS, ...criteria }: Expected = {},
  ): Promise<Result> {
    const isNot = this.isNot === true
    const found = await mail[list](criteria, isNot ? {} : { timeout })
    const all = found.length > 0 ? found : await mail.sent()
    const wanted = `a message${Criteria.describe(criteria)} to ${isNot ? "not " : ""}have been ${list}`
    return { pass: found.length > 0, message: () => `Expected ${wanted}. ${describe(all)}` }
  }

/** Matchers for `expect.extend` of vitest, Jest and Playwright. */
export const matchers = { toHaveBeenSent: matcher("sent"), toHaveBeenDelivered: matcher("delivered") }
