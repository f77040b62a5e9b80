import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Clock, Effect, Layer } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { Fresh } from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import * as Smtp from "./support.ts"

/** Length of an id's prefix and its 48 bits of milliseconds. */
const TIME_CHARS = "msg_".length + 10

/** Compares branded addresses by their text. */
const sameJson = (actual: unknown, expected: unknown) => assert.deepStrictEqual(actual, expected)

layer(Smtp.layer, { excludeTestServices: true })("SMTP submission", (it) => {
  it.effect("accepts mail from nodemailer and replies with the id after the commit", function* () {
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
    assert.strictEqual(words, `250 2.0.0 Ok: queued as ${mail?.id}`)
    // `created_at` is the time in the id.
    const moment = Id.lowest("EmailId", Timestamp.toMillis(mail?.created_at ?? Timestamp.fromMillis(0)))
    assert.strictEqual(mail?.id.slice(0, TIME_CHARS), moment.slice(0, TIME_CHARS))
    sameJson(mail?.from, { address: `hi@${acme.domain}`, name: "Ünal" })
    sameJson(mail?.to, [{ address: "ana@example.org", name: "Ana, the first" }, { address: "bo@example.org" }])
    sameJson(mail?.cc, [{ address: "cy@example.org", name: "Cy" }])
    sameJson(mail?.bcc, [{ address: "secret@example.org" }])
    sameJson(mail?.reply_to, [{ address: "answers@example.com" }])
    assert.strictEqual(
      mail?.subject,
      "Grüße, größer als eine Zeile mit vielen Wörtern, damit sie gefaltet wird: äöüß ✓",
    )
    assert.deepStrictEqual(mail?.headers, { "X-Order": "7041", "X-Greeting": "grüß dich" })
    assert.deepStrictEqual(mail?.tags, ["receipt", "shop"])
    assert.strictEqual(mail?.api_key_id, acme.keyId)
    assert.strictEqual(mail?.body.text, "Hällo.\n.\n..two dots\n")
    assert.strictEqual(mail?.body.html?.trim(), '<p>Hällo <img src="cid:logo"></p>')
    const files = mail?.body.attachments.map(({ bytes, content_id, content_type, filename }) => [
      filename,
      content_type,
      content_id,
      Buffer.from(bytes).toString("latin1"),
    ])
    assert.deepStrictEqual(files, [
      ["logo.png", "image/png", "logo", Buffer.from([137, 80, 78, 71]).toString("latin1")],
      ["größe.pdf", "application/pdf", null, "%PDF-1.4\r\n.\r\n\0\xff"],
    ])
  })

  it.effect("takes a recipient whose dots need quotes if it has them, and says so if it has none", function* () {
    const port = yield* Smtp.submission()
    const acme = yield* Smtp.customer()
    const client = yield* Smtp.raw(port)
    const say = (line: string) => Effect.promise(() => client.say(line))
    for (const line of ["EHLO my_host.test", Smtp.plain(acme.secret), "MAIL FROM:<root@my_host.test>"]) yield* say(line)
    assert.match(yield* say("RCPT TO:<first..last@docomo.ne.jp>"), /^553 5\.1\.3 .* quote it: "a\.\.b"@/u)
    assert.match(yield* say("RCPT TO:<ana@my_host.example.com>"), /^553 5\.1\.3 .* is not a domain name/u)
    for (const recipient of ['"first..last"@docomo.ne.jp', '"hidden."@docomo.ne.jp'])
      assert.match(yield* say(`RCPT TO:<${recipient}>`), /^250 /u)
    yield* say("DATA")
    const head = `From: hi@${acme.domain}\r\nTo: "first..last"@docomo.ne.jp\r\nSubject: s\r\n\r\nHi`
    assert.match(yield* say(`${head}\r\n.`), /^250 /u)
    const [mail] = yield* Smtp.accepted(acme.account_id)
    sameJson([mail?.to, mail?.bcc], [[{ address: "first..last@docomo.ne.jp" }], [{ address: "hidden.@docomo.ne.jp" }]])
  })

  it.effect("sends to the envelope, and uses headers only for display", function* () {
    const port = yield* Smtp.submission()
    const acme = yield* Smtp.customer()
    const raw = [
      `From: hi@${acme.domain}`,
      "To: Shown <SHOWN@example.org>, not-in-envelope@example.org",
      "Cc: group: cc@example.org;, shown@example.org",
      "Bcc: header-bcc@example.org, hidden@example.org",
      "Resent-Bcc: hidden@example.org",
      "X-Idempotency-Key: k1",
      "Received: from somewhere by elsewhere",
      "DKIM-Signature: v=1; d=elsewhere.test",
      "Message-ID: <mine@elsewhere.test>",
      "X-Kept: yes",
      "Subject: s",
      "",
      "hi",
    ].join("\r\n")
    const to = ["hidden@example.org", "shown@example.org", "cc@example.org", "HIDDEN@example.org", "two@example.org"]
    yield* Smtp.send(port, acme.secret, { envelope: { from: "", to }, raw })
    const [mail] = yield* Smtp.accepted(acme.account_id)
    sameJson(mail?.to, [{ address: "shown@example.org", name: "Shown" }])
    sameJson(mail?.cc, [{ address: "cc@example.org" }])
    sameJson(mail?.bcc, [{ address: "HIDDEN@example.org" }, { address: "two@example.org" }])
    sameJson(mail?.headers, { "X-Kept": "yes" })
    assert.strictEqual(mail?.body.text, "hi")
    assert.strictEqual(mail?.message_id, `<${mail?.id}@${acme.domain}>`)
  })

  // threat: injected-lines
  it.effect("removes Bcc from the sent message, also if there are no other recipients", function* () {
    const port = yield* Smtp.submission()
    const acme = yield* Smtp.customer()
    const bcc = ["secret1@example.org", "secret2@example.org"]
    yield* Smtp.send(port, acme.secret, { from: `hi@${acme.domain}`, bcc, subject: "s", text: "hi" })
    const [mail] = yield* Smtp.accepted(acme.account_id)
    sameJson([mail?.to, mail?.cc], [[], []])
    sameJson(
      mail?.bcc,
      bcc.map((address) => ({ address })),
    )
    const { url } = yield* Fresh
    const server = yield* SmtpServer.listen({})
    yield* Layer.build(World.worker(url, { relay: World.relay(server) }))
    yield* World.settled({ account_id: acme.account_id, stream_id: mail?.id ?? ("" as never) })
    const delivered = server.mails.filter(({ messageId }) => messageId === `${mail?.id}@${acme.domain}`)
    assert.deepStrictEqual(delivered.flatMap(({ to }) => to).sort(), bcc)
    for (const { bytes } of delivered) assert.notInclude(bytes.toString("latin1"), "secret")
  })

  it.effect(
    "normalizes international addresses like the API, and uses the envelope's sender if From is missing",
    function* () {
      const port = yield* Smtp.submission()
      const acme = yield* Smtp.customer()
      const client = yield* Smtp.raw(port)
      const replies = yield* Effect.promise(() =>
        client.all([
          "EHLO x",
          Smtp.plain(acme.secret),
          `MAIL FROM:<hi@${acme.domain}> SMTPUTF8 BODY=8BITMIME`,
          "RCPT TO:<žofie@bücher.example>",
          "DATA",
          "To: žofie@bücher.example\r\nSubject: grüß\r\n\r\nhallo ✓\r\n.",
        ]),
      )
      assert.match(replies.at(-1) ?? "", /^250 /u)
      const [mail] = yield* Smtp.accepted(acme.account_id)
      sameJson([mail?.from, mail?.to], [{ address: `hi@${acme.domain}` }, [{ address: "žofie@xn--bcher-kva.example" }]])
      assert.deepStrictEqual([mail?.subject, mail?.body.text], ["grüß", "hallo ✓"])
    },
  )

  it.effect("reads tags, tracking and schedule from headers, and removes those", function* () {
    const port = yield* Smtp.submission({ tracks: true })
    const acme = yield* Smtp.customer()
    const at = Timestamp.fromMillis((yield* Clock.currentTimeMillis) + Timestamp.DAY)
    yield* Smtp.send(port, acme.secret, {
      from: `hi@${acme.domain}`,
      to: "ana@example.org",
      subject: "s",
      text: "hi",
      headers: {
        "X-Tag": ["receipt", "shop , receipt"],
        "X-Scheduled-At": at.replace("Z", "+00:00"),
        "X-Idempotency-Key": "once",
        "X-Track-Opens": "True",
        "X-Track-Clicks": "false",
        "X-Track-Replies": "Forward",
      },
    })
    const [mail] = yield* Smtp.accepted(acme.account_id)
    assert.deepStrictEqual(mail?.tags, ["receipt", "shop"])
    assert.strictEqual(mail?.scheduled_at, at)
    assert.deepStrictEqual(mail?.tracking, { opens: true, clicks: false })
    assert.deepStrictEqual(mail?.reply_tracking, { forward: true })
    assert.deepStrictEqual(mail?.headers, {})
  })

  it.effect("accepts once under an idempotency key, whatever Date and Message-ID a retry has", function* () {
    const port = yield* Smtp.submission()
    const acme = yield* Smtp.customer()
    const mail = (text: string) => ({
      from: `hi@${acme.domain}`,
      to: "ana@example.org",
      subject: "s",
      text,
      html: "<p>hi</p>",
      headers: { "X-Idempotency-Key": "order 7041" },
    })
    const first = yield* Smtp.send(port, acme.secret, mail("hi"))
    const [again, twin] = yield* Effect.all(
      [Smtp.send(port, acme.secret, mail("hi")), Smtp.send(port, acme.secret, mail("hi"))],
      { concurrency: 2 },
    )
    assert.deepStrictEqual([again, twin], [`${first} (idempotent replay)`, `${first} (idempotent replay)`])
    assert.match(yield* Smtp.send(port, acme.secret, mail("other")), /^554 5\.5\.4 idempotency_key_reused: /u)
    assert.strictEqual((yield* Smtp.accepted(acme.account_id)).length, 1)
  })

  const STEERED: ReadonlyArray<
    readonly [
      headers: Readonly<Record<string, string>>,
      labels: { readonly tags?: ReadonlyArray<string>; readonly metadata?: Readonly<Record<string, string>> },
      tracking: { readonly opens: boolean; readonly clicks: boolean } | undefined,
      dropped: ReadonlyArray<string> | undefined,
    ]
  > = [
    [
      { "X-PM-Tag": "receipt", "X-PM-Metadata-color": "blue", "X-PM-TrackOpens": "true" },
      { tags: ["receipt"], metadata: { Color: "blue" } },
      { opens: true, clicks: false },
      undefined,
    ],
    [
      { "X-SES-MESSAGE-TAGS": "shop=berlin, kind = receipt", "X-SES-CONFIGURATION-SET": "main" },
      { metadata: { kind: "receipt", shop: "berlin" } },
      undefined,
      ["X-SES-CONFIGURATION-SET"],
    ],
    [
      {
        "X-SMTPAPI":
          '{"category":["receipt","shop"],"unique_args":{"order":7041},"filters":{"opentrack":{"settings":{"enable":1}},"clicktrack":{"settings":{"enable":0}}}}',
      },
      { tags: ["receipt", "shop"], metadata: { order: "7041" } },
      { opens: true, clicks: false },
      undefined,
    ],
    [{ "X-SMTPAPI": '{"category":"receipt","to":["eve@evil.test"]}' }, { tags: ["receipt"] }, undefined, ["X-SMTPAPI"]],
    [
      { "X-MC-Tags": "a, b", "X-MC-Metadata": '{"order":"7041"}', "X-MC-Track": "opens,clicks_htmlonly" },
      { tags: ["a", "b"], metadata: { order: "7041" } },
      { opens: true, clicks: true },
      undefined,
    ],
    [{ "X-MC-Metadata": '{"order":', "X-MC-Track": "all" }, {}, undefined, ["X-MC-Metadata", "X-MC-Track"]],
    [
      {
        "X-MSYS-API":
          '{"campaign_id":"june","tags":["a"],"metadata":{"order":"7041"},"options":{"click_tracking":true,"open_tracking":false,"transactional":true}}',
      },
      { tags: ["june", "a"], metadata: { order: "7041" } },
      { opens: false, clicks: true },
      undefined,
    ],
    [
      { "X-MSYS-API": '{"archive":[{"email":"eve@evil.test"}],"tags":["a"]}' },
      { tags: ["a"] },
      undefined,
      ["X-MSYS-API"],
    ],
    [
      { "X-PM-TrackOpens": "true", "X-PM-TrackLinks": "TextOnly", "X-PM-Message-Stream": "outbound" },
      {},
      { opens: true, clicks: false },
      undefined,
    ],
    [
      { "X-PM-TrackLinks": "Some", "X-PM-Message-Stream": "broadcast" },
      {},
      undefined,
      ["X-PM-TrackLinks", "X-PM-Message-Stream"],
    ],
    [
      { "X-Tag": "1, 2, 3", "X-MC-Tags": `3, ${"x".repeat(65)}, 4, 5, 6` },
      { tags: ["1", "2", "3", "4", "5"], metadata: { "label.4": "x".repeat(65), "label.7": "6" } },
      undefined,
      undefined,
    ],
    [
      { "X-Mailgun-Variables": '{"order":7041,"__proto__":"own","cart":{"items":2}}', "X-Mailgun-Tag": "june" },
      {
        tags: ["june"],
        metadata: Object.fromEntries([
          ["__proto__", "own"],
          ["order", "7041"],
        ]),
      },
      undefined,
      ["X-Mailgun-Variables"],
    ],
    [
      {
        "X-PM-Metadata-order": "7".repeat(501),
        "X-MC-Metadata": '{"order":"7041"}',
        "X-SMTPAPI": '{"unique_args":{"order":"1"}}',
      },
      { metadata: { order: "7041" } },
      undefined,
      ["X-PM-Metadata-order", "X-SMTPAPI"],
    ],
    [{ "X-Track-Opens": "false", "X-MC-Track": "opens" }, {}, undefined, undefined],
    // Symfony's and Laravel's.
    [
      { "X-Tag": "receipt", "X-Metadata-Color": "blue", "X-Metadata-Client-ID": "7".repeat(501) },
      { tags: ["receipt"], metadata: { Color: "blue" } },
      undefined,
      ["X-Metadata-Client-ID"],
    ],
  ]

  it.effect("reads the headers of other services for tags and tracking, and sends none of them", function* () {
    const port = yield* Smtp.submission({ tracks: true })
    const acme = yield* Smtp.customer()
    const mail = { from: `hi@${acme.domain}`, to: "ana@example.org", subject: "s", html: "<p>hi</p>" }
    for (const [headers] of STEERED)
      assert.match(yield* Smtp.send(port, acme.secret, { ...mail, headers: { ...headers, "X-Own": "1" } }), /^250 /u)
    const mails = yield* Smtp.accepted(acme.account_id)
    for (const [nth, [headers, { metadata, tags = [] }, tracking, dropped]] of STEERED.entries()) {
      const sent = mails[nth]
      const name = Object.keys(headers).join()
      assert.deepStrictEqual([sent?.tags, sent?.metadata], [tags, metadata], name)
      assert.deepStrictEqual(sent?.tracking, tracking, name)
      assert.deepStrictEqual(
        sent?.dropped_headers?.map((each) => each.toLowerCase()).toSorted(),
        dropped?.map((each) => each.toLowerCase()).toSorted(),
        name,
      )
      assert.deepStrictEqual(Object.keys(sent?.headers ?? {}), ["X-Own"], name)
    }
  })

  it.effect("sends mail at the time that the headers of other services name", function* () {
    const port = yield* Smtp.submission()
    const acme = yield* Smtp.customer()
    const mail = { from: `hi@${acme.domain}`, to: "ana@example.org", subject: "s", text: "hi" }
    const at = Math.ceil((yield* Clock.currentTimeMillis) / 1_000) * 1_000 + 3_600_000
    const iso = new Date(at).toISOString()
    const rows = [
      { "X-SMTPAPI": JSON.stringify({ send_at: at / 1_000 }) },
      { "X-MC-SendAt": iso.slice(0, 19).replace("T", " ") },
      { "X-MSYS-API": JSON.stringify({ options: { start_time: iso.replace(".000Z", "+00:00") } }) },
      { "X-Scheduled-At": iso, "X-MC-SendAt": "2000-01-01 00:00:00" },
    ]
    for (const headers of rows) assert.match(yield* Smtp.send(port, acme.secret, { ...mail, headers }), /^250 /u)
    for (const { dropped_headers, scheduled_at } of yield* Smtp.accepted(acme.account_id))
      assert.deepStrictEqual([scheduled_at, dropped_headers], [iso, undefined])
    const unread = { "X-MC-SendAt": "tomorrow" }
    assert.match(yield* Smtp.send(port, acme.secret, { ...mail, headers: unread }), /^250 /u)
    const dropped = (yield* Smtp.accepted(acme.account_id)).at(-1)?.dropped_headers ?? []
    assert.deepStrictEqual(
      dropped.map((name) => name.toLowerCase()),
      ["x-mc-sendat"],
    )
  })

  it.effect("reads the headers of Postmark and Resend, and removes those", function* () {
    const port = yield* Smtp.submission()
    const acme = yield* Smtp.customer()
    const mail = {
      from: `hi@${acme.domain}`,
      to: "ana@example.org",
      subject: "s",
      text: "hi",
      headers: { "X-PM-Tag": "receipt, shop", "X-Tag": "a, b", "Resend-Idempotency-Key": "order 7041" },
    }
    const first = yield* Smtp.send(port, acme.secret, mail)
    assert.strictEqual(yield* Smtp.send(port, acme.secret, mail), `${first} (idempotent replay)`)
    const two = { ...mail, headers: { ...mail.headers, "X-Idempotency-Key": "another" } }
    assert.match(yield* Smtp.send(port, acme.secret, two), /X-Idempotency-Key.*must appear only once/u)
    const [sent, ...more] = yield* Smtp.accepted(acme.account_id)
    assert.deepStrictEqual([sent?.tags, sent?.headers, more], [["a", "b", "receipt, shop"], {}, []])
  })

  it.effect("records the key and the client's address as the actor", function* () {
    const port = yield* Smtp.submission()
    const acme = yield* Smtp.customer()
    yield* Smtp.send(port, acme.secret, {
      from: `hi@${acme.domain}`,
      to: "ana@example.org",
      subject: "s",
      text: "hi",
    })
    const [mail] = yield* Smtp.accepted(acme.account_id)
    assert.deepInclude(mail?.history[0]?.meta, { actor: { type: "api_key", id: acme.keyId }, address: "127.0.0.1" })
  })
})
