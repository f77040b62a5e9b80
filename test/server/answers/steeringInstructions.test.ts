import { Effect } from "effect"
import * as SteeringInstructions from "../../../apps/server/src/smtp/submitted/SteeringInstructions.ts"
import { assert, it } from "../../support/effectTest.ts"
import { processorMs } from "../../support/processorMs.ts"

const MAX_HEADER_CHARS = 262_144

it.effect("headers of other services are read in time that grows with their length alone", () =>
  Effect.sync(() => {
    const long = [" ".repeat(MAX_HEADER_CHARS), "=".repeat(MAX_HEADER_CHARS), ",".repeat(MAX_HEADER_CHARS)]
    const names = [
      "X-SES-Message-Tags",
      "X-MC-Tags",
      "X-MC-SendAt",
      "X-Mailgun-Tag",
      "X-MC-Track",
      "X-SMTPAPI",
      "X-MSYS-API",
    ]
    for (const name of names)
      for (const middle of long) {
        const before = processorMs()
        SteeringInstructions.read([{ name, value: `a${middle}b` }], [])
        assert.isBelow(processorMs() - before, 250, `${name} with ${middle.slice(0, 1)}`)
      }
  }),
)
