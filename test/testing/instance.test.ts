import nodemailer from "nodemailer"
import { Resend } from "resend"
import { afterAll, assert, beforeAll, describe, expect, it, vi } from "vitest"
import { assertMail, type TestInstance, matchers, Waybill } from "../../packages/testing/src/Waybill.ts"

expect.extend(matchers)

const TIMEOUT = 180_000
const from = "Acme <hello@shop.example>"

let mail: TestInstance
beforeAll(async () => {
  mail = await Waybill.start()
}, TIMEOUT)
afterAll(() => mail.stop(), TIMEOUT)

const send = async (message: object): Promise<string> => {
  const response = await fetch(`${mail.url}/v1/email/send`, {
    method: "POST",
    headers: { authorization: `Bearer ${mail.key}`, "content-type": "application/json" },
    body: JSON.stringify({ from, text: "Hi", ...message }),
  })
  assert.strictEqual(response.status, 200)
  return ((await response.json()) as { readonly id: string }).id
}
const messageOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "nothing failed",
    (error: Error) => error.message,
  )

describe("an instance of a test suite", { timeout: TIMEOUT }, () => {
  it("returns each message once, whichever is waited for first", async () => {
    const waited = mail.next({ to: "Bo@example.org" }, { timeout: TIMEOUT })
    await send({ to: "ana@example.org", subject: "One" })
    await send({ to: ["cy@example.org", "bo@example.org"], subject: "Two" })
    assert.strictEqual((await waited).subject, "Two")
    const one = await mail.next({ subject: /^O/u }, { timeout: TIMEOUT })
    assert.deepStrictEqual(
      [one.from, one.to, one.text?.trim(), one.html],
      ["hello@shop.example", ["ana@example.org"], "Hi", null],
    )
    const none = await messageOf(mail.next({ to: "bo@example.org" }, { timeout: 1 }))
    assert.include(none, "No message to bo@example.org arrived within 1 ms. Sent so far:")
    assert.include(none, `"Two" to cy@example.org, bo@example.org: delivered to cy@example.org, bo@example.org`)
  })

  it("takes mail of the package resend and of nodemailer over SMTP", async () => {
    const resend = new Resend(mail.key, mail.resend)
    const { error } = await resend.emails.send({ from, to: "re@example.org", subject: "R", text: "R" })
    assert.isNull(error)
    await nodemailer.createTransport(mail.smtp).sendMail({ from, to: "no@example.org", subject: "N", html: "<b>N</b>" })
    assert.strictEqual((await mail.next({ to: "re@example.org" }, { timeout: TIMEOUT })).subject, "R")
    assert.strictEqual((await mail.next({ to: "no@example.org" }, { timeout: TIMEOUT })).html?.trim(), "<b>N</b>")
  })

  it("renders templates without sending, and publishes them for the program", async () => {
    const words = {
      subject: "Code for {{ name }}",
      html: '<p>{{ code }}</p><a href="{{ url }}">Reset</a>',
      variables: {
        type: "object",
        required: ["name"],
        properties: { name: { type: "string" }, code: { type: "integer" }, url: { type: "string" } },
      },
      locales: { de: { subject: "Code für {{ name }}" } },
    }
    const variables = { name: "Ana", code: 493027, url: "https://shop.example/reset" }
    const rendered = await mail.render(words, variables, { locale: "de-AT" })
    assert.deepStrictEqual(
      [rendered.subject, mail.code(rendered), mail.link(rendered, "Reset")],
      ["Code für Ana", "493027", "https://shop.example/reset"],
    )
    assert.deepStrictEqual(
      rendered.warnings.map(({ path }) => path),
      ["text"],
    )
    const wrong = await messageOf(mail.render(words, { nmae: "Ana" }))
    assert.include(wrong, "\n  nmae is not a variable of this template; did you mean `name`?\n  name is missing")
    const versions = [
      await mail.publish("code", { ...words, subject: "Your code" }),
      await mail.publish("code", words),
      await mail.publish("code", words),
    ]
    assert.deepStrictEqual(versions, [1, 2, 2])
    assert.strictEqual((await mail.render("code", variables)).subject, "Code for Ana")
    const id = await send({ to: "te@example.org", text: undefined, template: { alias: "code", variables } })
    const arrived = await mail.next({ to: "te@example.org" }, { timeout: TIMEOUT })
    assert.deepStrictEqual([arrived.id, arrived.subject], [id, "Code for Ana"])
  })

  it("matchers wait for what is sent and delivered, and say what was instead", async () => {
    await send({ to: "bounced@acme.test", subject: "Lost" })
    await expect(mail).toHaveBeenSent({ to: "bounced@acme.test", subject: "Lost", timeout: TIMEOUT })
    await expect(mail).not.toHaveBeenDelivered({ subject: "Lost" })
    await send({ to: "ana@example.org", subject: "Found" })
    await expect(mail).toHaveBeenDelivered({ subject: "Found", timeout: TIMEOUT })
    const failed = await messageOf(expect(mail).toHaveBeenSent({ subject: "Never", timeout: 1 }))
    assert.include(failed, `Expected a message with the subject "Never" to have been sent. Sent so far:`)
    const found = await messageOf(expect(mail).not.toHaveBeenDelivered({ subject: "Found" }))
    assert.include(found, `Expected a message with the subject "Found" to not have been delivered.`)
  })

  it("follows the script of an address through the time that passes, until a reset", async () => {
    await mail.script("Cy@example.org", ["defer 451 4.7.1", "defer", "bounce 550 5.1.1"])
    const id = await send({ to: ["cy@example.org", "ana@example.org"], subject: "Scripted" })
    const scheduled_at = new Date(Date.now() + 2 * 86_400_000).toISOString()
    await send({ to: "ana@example.org", subject: "Later", scheduled_at })
    await expect(mail).toHaveBeenDelivered({ subject: "Scripted", timeout: TIMEOUT })
    const before = Date.now()
    const now = await mail.advance("3 days")
    assert.isAbove(now.getTime(), before + 2 * 86_400_000)
    assert.sameOrderedMembers(
      [...(await mail.timeline({ id }))],
      [
        `+0s email.queued msg_1 "Scripted" to cy@example.org, ana@example.org`,
        "+0s email.delivery_delayed cy@example.org 451 4.7.1",
        "+0s email.delivered ana@example.org 250 2.0.0",
        "+1m email.delivery_delayed cy@example.org 451 4.3.0",
        "+6m email.bounced cy@example.org 550 5.1.1",
      ],
    )
    await expect(mail).toHaveBeenDelivered({ subject: "Later", timeout: TIMEOUT })
    assert.include(
      await messageOf(mail.script("cy@example.org", ["explode"])),
      `The script has the unknown word "explode"`,
    )
    await mail.reset()
    assert.deepStrictEqual(await mail.sent(), [])
    await send({ to: "cy@example.org", subject: "New" })
    assert.strictEqual((await mail.next({}, { timeout: TIMEOUT })).subject, "New")
  })

  it("receives mail and replies, which name the message that they answer", async () => {
    const id = await send({ to: "ana@example.org", subject: "Your order", reply_to: "help+42@shop.example" })
    const message = await mail.next({ subject: "Your order" }, { timeout: TIMEOUT })
    const reply = await mail.reply(message, { text: "Thank you!\n\n-- \nAna" })
    assert.deepInclude(reply, {
      email_id: id,
      subject: "Re: Your order",
      stripped_text: "Thank you!",
      mailbox_hash: "42",
    })
    assert.deepStrictEqual(reply.from, { address: "ana@example.org", name: null })

    const received = await mail.receive({
      from: "Bo <bo@example.org>",
      to: "in@shop.example",
      subject: "Files",
      html: "<b>Here</b>",
      attachments: [{ filename: "a.txt", content: Buffer.from("a file"), content_type: "text/plain" }],
    })
    assert.deepInclude(received, { email_id: null, subject: "Files", html: "<b>Here</b>\n" })
    assert.strictEqual(await (await fetch(received.attachments[0]?.url ?? "")).text(), "a file")

    const raw = "From: cy@example.org\r\nTo: in@shop.example\r\nSubject: Whole\r\n\r\nHi\r\n"
    assert.deepInclude(await mail.receive({ raw }), { subject: "Whole", text: "Hi\n" })

    const lost = await send({ to: "bounced@acme.test", subject: "Gone" })
    const [gone] = await mail.sent({ subject: "Gone" }, { timeout: TIMEOUT })
    assert.strictEqual(gone?.id, lost)
    if (gone !== undefined)
      assert.strictEqual(
        await messageOf(mail.reply(gone, { text: "Hi" })),
        `"Gone" was not delivered, so nobody can answer it.`,
      )
  })

  it("has a time, which a reset sets back", async () => {
    const before = mail.now
    const moved = await mail.advance("0s")
    assert.deepStrictEqual(moved, before)
    assert.strictEqual((await mail.advance("2 days")).getTime(), before.getTime() + 2 * 86_400_000)
    const resend = new Resend(mail.key, mail.resend)
    await resend.emails.send({ from, to: "ana@example.org", subject: "In words", text: "Hi", scheduledAt: "in 1 hour" })
    await expect(mail).toHaveBeenSent({ subject: "In words", timeout: TIMEOUT })
    await mail.advance("59 minutes")
    await assertMail.notDelivered(mail, { subject: "In words" })
    await mail.advance("1 minute")
    await assertMail.delivered(mail, { subject: "In words" })
    await mail.reset()
    assert.isBelow(mail.now.getTime(), before.getTime() + 86_400_000)
    const id = await send({ to: "ana@example.org", subject: "Again" })
    await expect(mail).toHaveBeenDelivered({ subject: "Again", timeout: TIMEOUT })
    assert.match((await mail.timeline(id))[0] ?? "", /^\+0s email\.queued/u)
  })

  it("leads to the destination of a tracked link, and counts its clicks", async () => {
    const html = `<a href="https://shop.example/reset?t=1&amp;u=2">Reset</a>`
    await send({ to: "ana@example.org", subject: "Tracked", html, tracking: { opens: false, clicks: true } })
    const message = await mail.next({ subject: "Tracked" }, { timeout: TIMEOUT })
    assert.notInclude(message.html ?? "", "https://shop.example")
    assert.strictEqual(mail.link(message, "Reset"), "https://shop.example/reset?t=1&u=2")
    const hook = await mail.webhook(() => undefined, ["email.clicked"])
    assert.strictEqual(await mail.click(message, "Reset"), "https://shop.example/reset?t=1&u=2")
    await vi.waitFor(() => assert.lengthOf(hook.events, 1), TIMEOUT)
    assert.deepInclude(hook.events[0]?.data, { url: "https://shop.example/reset?t=1&u=2" })
    await hook.close()
    const plain = await messageOf(mail.click({ ...message, html: `<a href="https://x.test/">X</a>` }))
    assert.include(plain, "is not tracked")
  })

  it("gives events to a function, again after it failed", async () => {
    let failures = 1
    const hook = await mail.webhook(() => {
      if (failures-- > 0) throw new Error("not today")
    }, ["email.bounced"])
    await send({ to: "bounced@acme.test", subject: "Bounced" })
    await vi.waitFor(() => assert.lengthOf(hook.events, 1), TIMEOUT)
    await mail.advance("1 hour")
    assert.deepStrictEqual(
      hook.events.map(({ type }) => type),
      ["email.bounced", "email.bounced"],
    )
    // A repeated call has the same id and the same number.
    assert.lengthOf(new Set(hook.events.map(({ id, sequence }) => `${id} ${sequence}`)), 1)
    const [bounced] = await mail.sent({ subject: "Bounced" })
    assert.deepStrictEqual([bounced?.delivered, bounced?.undelivered], [[], ["bounced@acme.test"]])
    await hook.close()
  })

  it("answers requests that send mail with an error, as often as it is told to", async () => {
    const status = async (path: string, body: object) => {
      const headers = { authorization: `Bearer ${mail.key}`, "content-type": "application/json" }
      const response = await fetch(mail.url + path, { method: "POST", headers, body: JSON.stringify(body) })
      return [response.status, response.headers.get("retry-after")]
    }
    const message = { from, to: "ana@example.org", subject: "Flaky", text: "Hi" }
    await mail.fail({ status: 503, times: 2 })
    assert.deepStrictEqual(await status("/v1/email/send", message), [503, "1"])
    assert.deepStrictEqual(await status("/compat/resend/emails", message), [503, "1"])
    assert.deepStrictEqual(await mail.sent({ subject: "Flaky" }), [])
    await mail.fail({ status: 429 })
    assert.deepStrictEqual(await status("/v1/email/send", message), [429, "1"])
    await mail.fail({ status: 500 })
    const { response } = await nodemailer
      .createTransport(mail.smtp)
      .sendMail(message)
      .catch((error: unknown) => error as { readonly response: string })
    assert.match(response, /^451 4\.3\.0 /u)
    assert.deepStrictEqual((await status("/v1/email/send", message))[0], 200)
    await mail.fail({ status: 503, times: 9 })
    await mail.reset()
    assert.deepStrictEqual((await status("/v1/email/send", message))[0], 200)
    assert.include(await messageOf(mail.fail({ status: 503, times: -1 })), "An instruction cannot be read")
  })

  it("meets no limit of rates", async () => {
    for (let nth = 0; nth < 130; nth++) assert.isArray(await mail.sent())
  })
})
