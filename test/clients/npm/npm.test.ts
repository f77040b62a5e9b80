import { fileURLToPath } from "node:url"
import { assert, beforeAll, layer } from "../../support/effectTest.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"
import { installed, PRELOAD, sentBy } from "../sentBy.ts"

const FOLDER = fileURLToPath(new URL(".", import.meta.url))
beforeAll(() => installed(FOLDER), 120_000)

/** Emails that each client sends: one, and two of a batch where it has one. */
const BY_ADDRESS: Readonly<Record<string, number>> = {
  "resend-1": 1,
  "resend-2": 3,
  "resend-3": 3,
  "resend-4": 3,
  "resend-5": 3,
  "resend-6-1": 3,
  "resend-6-12": 3,
  "resend-6-34": 3,
  resend: 3,
  "postmark-2": 3,
  "postmark-3": 3,
  "postmark-4": 3,
  postmark: 3,
  "sendgrid-mail-6": 3,
  "sendgrid-mail-7": 3,
  "sendgrid-mail": 3,
  "nodemailer-postmark-transport": 1,
  "strapi-provider-email-resend": 1,
}
const BY_REDIRECT: Readonly<Record<string, number>> = {
  "nodemailer-sendgrid": 1,
  "authjs-resend": 1,
  "authjs-postmark": 1,
  "authjs-sendgrid": 1,
}

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("published clients", (it) => {
  const FILE = [["a.bin", 5]]

  it.effect("send, send batches, attach files and show refusals by one variable or option", function* () {
    const { emailsOf, filesOf, outcomes, stderr } = yield* sentBy(FOLDER, ["send.ts", "address"])
    assert.deepStrictEqual(
      outcomes.map(({ name }) => name),
      Object.keys(BY_ADDRESS),
      stderr,
    )
    for (const { batch = "sent", name, refused, send } of outcomes) {
      assert.deepStrictEqual([send, batch], ["sent", "sent"], name)
      assert.match(refused, /The domain elsewhere\.test is not a domain of this account/u, name)
      assert.lengthOf(emailsOf(name), BY_ADDRESS[name] ?? 0, name)
      assert.deepStrictEqual(yield* filesOf(name), FILE, name)
    }
  })

  it.effect("that know one host only send by the redirect", function* () {
    const { emailsOf, filesOf, outcomes, stderr } = yield* sentBy(FOLDER, [PRELOAD, "send.ts", "redirect"])
    assert.deepStrictEqual(
      outcomes.map(({ name }) => name),
      Object.keys(BY_REDIRECT),
      stderr,
    )
    for (const { name, refused, send } of outcomes) {
      assert.strictEqual(send, "sent", name)
      assert.match(refused, /The domain elsewhere\.test is not a domain of this account/u, name)
      assert.lengthOf(emailsOf(name), BY_REDIRECT[name] ?? 0, name)
      assert.deepStrictEqual(yield* filesOf(name), name.startsWith("authjs") ? [] : FILE, name)
    }
  })
})
