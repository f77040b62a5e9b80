import { fileURLToPath } from "node:url"
import { assert, beforeAll, layer } from "../../support/effectTest.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"
import * as Smtp from "../../server/smtp/support.ts"
import { installed, PRELOAD, sentBy } from "../sentBy.ts"

const FOLDER = fileURLToPath(new URL(".", import.meta.url))
beforeAll(() => installed(FOLDER), 240_000)

const ADAPTERS = [
  "payload-resend",
  "payload-nodemailer",
  "adonis-resend",
  "adonis-postmark",
  "adonis-smtp",
  "medusa-sendgrid",
  "novu-resend",
  "novu-postmark",
  "novu-sendgrid",
  "novu-nodemailer",
]

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("adapters of frameworks", (it) => {
  it.effect("send, attach files and show refusals by the doors and by SMTP", function* () {
    const SMTP_PORT = String(yield* Smtp.submission())
    const { emailsOf, filesOf, outcomes, stderr } = yield* sentBy(FOLDER, [PRELOAD, "send.ts"], { SMTP_PORT })
    assert.deepStrictEqual(
      outcomes.map(({ name }) => name),
      ADAPTERS,
      stderr,
    )
    for (const { name, refused, send } of outcomes) {
      assert.strictEqual(send, "sent", name)
      assert.match(refused, /The domain elsewhere\.test is not a domain of this account/u, name)
      assert.lengthOf(emailsOf(name), 1, name)
      assert.deepStrictEqual(yield* filesOf(name), [["a.bin", 5]], name)
    }
  })
})
