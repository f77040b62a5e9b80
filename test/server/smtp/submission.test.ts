import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Smtp from "./support.ts"

/** Addresses are branded; what is compared is what they are made of. */
const sameJson = (actual: unknown, expected: unknown) => assert.deepStrictEqual(actual, expected)

layer(Smtp.World, { excludeTestServices: true })("SMTP submission", (it) => {
  it.effect("takes what nodemailer sends, once it is committed, and answers with the id", () =>
    Effect.gen(function* () {
      const port = yield* Smtp.submission()
      const acme = yield* Smtp.customer()
      const words = yield* Smtp.send(port, acme.secret, {
        from: `Ünal <hi@${acme.domain}>`,
        to: ['"Ana, the first" <ana@example.org>', "bo@example.org"],
        cc: "Cy <cy@example.org>",
        bcc: "secret@example.org",
        replyTo: "answers@example.com",
        subject: "Grüße, größer als eine Zeile mit vielen Wörtern, damit sie gefaltet wird: äöüß ✓",
        text: "Hällo.\n.\n..two dots\n",
        html: '<p>Hällo <img src="cid:logo"></p>',
        headers: { "X-Order": "7041", "X-Tag": "receipt, shop", "X-Greeting": "grüß dich" },
        attachments: [
          { filename: "größe.pdf", content: Buffer.from("%PDF-1.4\r\n.\r\n\0\xff", "latin1") },
          { filename: "logo.png", content: Buffer.from([137, 80, 78, 71]), cid: "logo" },
        ],
      })
      const [mail, ...more] = yield* Smtp.accepted(acme.account_id)
      assert.deepStrictEqual(more, [])
      assert.strictEqual(words, `250 2.6.0 Queued as ${mail?.id}`)
      sameJson(mail?.from, { address: `hi@${acme.domain}`, name: "Ünal" })
      sameJson(mail?.to, [
        { address: "ana@example.org", name: "Ana, the first" },
        { address: "bo@example.org" },
      ])
      sameJson(mail?.cc, [{ address: "cy@example.org", name: "Cy" }])
      sameJson(mail?.bcc, [{ address: "secret@example.org" }])
      sameJson(mail?.reply_to, [{ address: "answers@example.com" }])
      assert.strictEqual(mail?.subject, "Grüße, größer als eine Zeile mit vielen Wörtern, damit sie gefaltet wird: äöüß ✓")
      assert.deepStrictEqual(mail?.headers, { "X-Order": "7041", "X-Greeting": "grüß dich" })
      assert.deepStrictEqual(mail?.tags, ["receipt", "shop"])
      assert.strictEqual(mail?.api_key_id, acme.keyId)
      assert.strictEqual(mail?.body.text, "Hällo.\n.\n..two dots\n")
      assert.strictEqual(mail?.body.html?.trim(), '<p>Hällo <img src="cid:logo"></p>')
      const files = mail?.body.attachments.map(({ bytes, content_id, content_type, filename }) => [
        filename, content_type, content_id, Buffer.from(bytes).toString("latin1"),
      ])
      assert.deepStrictEqual(files, [
        ["logo.png", "image/png", "logo", Buffer.from([137, 80, 78, 71]).toString("latin1")],
        ["größe.pdf", "application/pdf", null, "%PDF-1.4\r\n.\r\n\0\xff"],
      ])
    }),
  )
})
