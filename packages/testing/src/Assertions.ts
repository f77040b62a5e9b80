import { type Expected, matchers } from "./matchers.ts"
import type { TestInstance } from "./TestInstance.ts"

const make =
  (matcher: keyof typeof matchers, isNot: boolean) =>
  async (mail: TestInstance, expected?: Expected): Promise<void> => {
    const { message, pass } = await matchers[matcher].call({ isNot }, mail, expected)
    if (pass === isNot) throw new Error(message())
  }

/** The service accepted a message, whatever happened to it. */
export const sent = make("toHaveBeenSent", false)
export const notSent = make("toHaveBeenSent", true)
/** A message was delivered to a recipient. */
export const delivered = make("toHaveBeenDelivered", false)
export const notDelivered = make("toHaveBeenDelivered", true)
