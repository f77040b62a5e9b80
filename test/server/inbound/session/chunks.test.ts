import { Effect } from "effect"
import { assert, layer } from "../../../support/effectTest.ts"
import * as Smtp from "../../smtp/support.ts"

/** Lines that would be commands, or the end of a message, if a chunk were read by lines. */
const body = (acme: Smtp.Customer) =>
  `From: hi@${acme.domain}\r\nTo: ana@example.org\r\nSubject: s\r\n\r\nDear Ana,\r\n.\r\n..dots\r\nRSET\r\nQUIT\r\n`
const chunk = (text: string, last = "") => `BDAT ${text.length}${last}\r\n${text}`

const begun = Effect.fnUntraced(function* (tls = false) {
  const port = yield* Smtp.submission(tls ? { tls: Smtp.CERTIFICATE } : {})
  const acme = yield* Smtp.customer()
  const client = yield* Smtp.raw(port)
  if (tls)
    yield* Effect.promise(async () => {
      await client.all(["EHLO x", "STARTTLS"])
      await client.secure()
    })
  const lines = yield* Effect.promise(() => client.lines("EHLO x"))
  assert.include(lines.join("\n"), "CHUNKING")
  const mail = [`MAIL FROM:<hi@${acme.domain}>`, "RCPT TO:<ana@example.org>"]
  yield* Effect.promise(() => client.all([Smtp.plain(acme.secret), ...mail]))
  const say = (text: string) =>
    Effect.promise(() => {
      client.write(text)
      return client.reply()
    })
  const texts = Effect.map(Smtp.accepted(acme.account_id), (mails) => mails.map((mail) => mail.body.text))
  return { acme, client, mail, say, texts }
})

const TEXT = "Dear Ana,\n.\n..dots\nRSET\nQUIT"

layer(Smtp.layer, { excludeTestServices: true })("a message in chunks", (it) => {
  for (const tls of [false, true])
    it.effect(`is taken as it is, in one write or byte by byte${tls ? ", inside TLS" : ""}`, function* () {
      const { acme, client, mail, say, texts } = yield* begun(tls)
      const text = body(acme)
      const all = `${chunk(text.slice(0, 7))}${chunk(text.slice(7, 90))}BDAT 0\r\n${chunk(text.slice(90), " LAST")}`
      assert.match(yield* say(`${all}NOOP\r\n`), /^250 2\.0\.0 7 bytes/u)
      const replies = yield* Effect.promise(async () => [
        await client.reply(),
        await client.reply(),
        await client.reply(),
        await client.reply(),
      ])
      assert.match(replies.join("\n"), /^250 2\.0\.0 83 bytes.*\n250 2\.0\.0 0 bytes.*\n250 2\.0\.0 Ok: queued.*\n250/u)
      yield* Effect.promise(() => client.all(mail))
      for (const byte of chunk(text)) {
        client.write(byte)
        yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      }
      assert.match(yield* Effect.promise(() => client.reply()), /^250 2\.0\.0/u)
      assert.match(yield* say("BDAT 0 LAST\r\n"), /^250 2\.0\.0 Ok: queued/u)
      assert.deepStrictEqual(yield* texts, [TEXT, TEXT])
    })

  // threat: smuggling
  it.effect("that is refused is read to its end, and none of it is a command", function* () {
    const { acme, client, mail, say, texts } = yield* begun()
    const hidden = `RSET\r\nMAIL FROM:<hi@${acme.domain}>\r\nRCPT TO:<eve@example.org>\r\nDATA\r\n`
    yield* say("RSET\r\n")
    assert.match(yield* say(`${chunk(hidden, " LAST")}`), /^503 5\.5\.1/u)
    assert.match(yield* say("NOOP\r\n"), /^250/u)
    yield* Effect.promise(() => client.all(mail))
    const large = "x".repeat(Smtp.MAX_MESSAGE_BYTES)
    assert.match(yield* say(chunk(large)), /^250/u)
    assert.match(yield* say(chunk(hidden, " LAST")), /^552 5\.3\.4/u)
    assert.match(yield* say("NOOP\r\n"), /^250/u)
    assert.deepStrictEqual(yield* texts, [])
  })

  it.effect("ends with RSET, and takes no other command", function* () {
    const { acme, client, mail, say, texts } = yield* begun()
    assert.match(yield* say(chunk("From: eve@example.org\r\n")), /^250/u)
    assert.match(yield* say("DATA\r\n"), /^503 5\.5\.1/u)
    assert.match(yield* say("RCPT TO:<eve@example.org>\r\n"), /^503 5\.5\.1/u)
    assert.match(yield* say("RSET\r\n"), /^250/u)
    yield* Effect.promise(() => client.all(mail))
    assert.match(yield* say(chunk(body(acme), " LAST")), /^250 2\.0\.0/u)
    assert.deepStrictEqual(yield* texts, [TEXT])
  })

  it.effect("closes the connection when its size cannot be read", function* () {
    const { client, say } = yield* begun()
    assert.match(yield* say("BDAT x LAST\r\nQUIT\r\n"), /^501 5\.5\.4/u)
    assert.strictEqual(yield* Effect.promise(() => client.reply()), "closed")
  })
})
