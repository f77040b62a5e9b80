import Handlebars from "handlebars"
import { assert } from "../../support/effectTest.ts"

/** Handlebars with the helpers that SendGrid documents. */
export const sendgridHandlebars = Handlebars.create()
type Block = Handlebars.HelperOptions
const decides = (test: (...values: ReadonlyArray<unknown>) => unknown) =>
  function (this: unknown, ...all: ReadonlyArray<unknown>) {
    const options = all.at(-1) as Block
    const result = Boolean(test(...all.slice(0, -1)))
    // Within another helper there is no block.
    if (typeof options.fn !== "function") return result
    return result ? options.fn(this) : options.inverse(this)
  }
const isSet = (value: unknown) => !Handlebars.Utils.isEmpty(value) && value !== 0
sendgridHandlebars.registerHelper({
  equals: decides((a, b) => a === b),
  notEquals: decides((a, b) => a !== b),
  greaterThan: decides((a, b) => Number(a) > Number(b)),
  lessThan: decides((a, b) => Number(a) < Number(b)),
  and: decides((...values) => values.every(isSet)),
  or: decides((...values) => values.some(isSet)),
  length: (value: ArrayLike<unknown> | undefined) => value?.length ?? 0,
  insert: (value: unknown, fallback: string) => (isSet(value) ? value : fallback.replace(/^default=/u, "")),
  formatDate: (value: string, format: string) => {
    const date = new Date(value)
    const part = (options: Intl.DateTimeFormatOptions) =>
      new Intl.DateTimeFormat("en-US", { timeZone: "UTC", ...options }).format(date)
    const two = (number: number) => String(number).padStart(2, "0")
    const words: Readonly<Record<string, string>> = {
      YYYY: String(date.getUTCFullYear()),
      YY: String(date.getUTCFullYear()).slice(2),
      MMMM: part({ month: "long" }),
      MMM: part({ month: "short" }),
      DD: two(date.getUTCDate()),
      D: String(date.getUTCDate()),
      ddd: part({ weekday: "short" }),
      HH: two(date.getUTCHours()),
      h: String(date.getUTCHours() % 12),
      mm: two(date.getUTCMinutes()),
      ss: two(date.getUTCSeconds()),
      A: date.getUTCHours() < 12 ? "AM" : "PM",
    }
    return format.replaceAll(/([A-Za-z])\1*/gu, (word) => words[word] ?? assert.fail(word))
  },
})
