import { assert, it } from "@effect/vitest"
import * as Heading from "@waybill/mail/inbound/Heading"
import { processorMs } from "../../support/processorMs.ts"

// A reading that grows with the square of these takes seconds.
const CHARS = 64 * 1000
const ENDLESS = [`Date: x${" ".repeat(CHARS)}a`, `In-Reply-To: ${"a@".repeat(CHARS / 2)}<`]
const read = (field: string) => {
  const started = processorMs()
  Heading.ofHeader(Buffer.from(`${field}\r\n\r\nx`))
  return processorMs() - started
}

it.each(ENDLESS)("reads %.16s in the time of a plain header", (field) => {
  const plain = read(`Subject: ${"word ".repeat(CHARS / 5)}`)
  assert.isBelow(read(field), 20 * plain + 200)
})
