import { dkimVerify } from "mailauth/lib/dkim/verify.js"
import { Duration, Effect, Layer } from "effect"
import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, layer } from "../../support/effectTest.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import { Fresh } from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import * as Smtp from "./support.ts"

const run = promisify(execFile)
const isThere = (program: string) =>
  run(program, ["--version"]).then(
    () => true,
    () => false,
  )
const openssl = await run("openssl", ["version"]).then(
  () => true,
  () => false,
)
const gpg = await isThere("gpg")

const TEXT =
  'Content-Type: text/html; charset=utf-8\r\n\r\n<p>Dear  Ana, \t</p>\r\n.\r\n<a href="https://acme.test/">link</a>\r\n'

/** A folder with a key and a certificate of S/MIME, and a text to protect. */
const folder = Effect.acquireRelease(
  Effect.promise(async () => {
    const path = await mkdtemp(join(tmpdir(), "waybill-protected-"))
    await writeFile(join(path, "text"), TEXT)
    return path
  }),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true })),
)

const openSsl = (cwd: string, ...args: ReadonlyArray<string>) =>
  Effect.promise(() => run("openssl", args, { cwd, encoding: "buffer" }).then(({ stdout }) => stdout))

const certified = Effect.gen(function* () {
  const cwd = yield* folder
  yield* openSsl(
    cwd,
    ..."req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -days 2 -subj /CN=hi/emailAddress=hi@acme.test".split(
      " ",
    ),
  )
  return cwd
})

/** A message that passed through Waybill. */
const passed = Effect.fnUntraced(function* (entities: ReadonlyArray<Buffer>) {
  const port = yield* Smtp.submission({ tracks: true })
  const acme = yield* Smtp.customer({ plan: "business" })
  const { url } = yield* Fresh
  const server = yield* SmtpServer.listen({})
  yield* Layer.build(World.worker(url, { relay: World.relay(server) }))
  return yield* Effect.forEach(entities, (entity) =>
    Effect.gen(function* () {
      const head = `From: hi@${acme.domain}\r\nTo: ana@example.org\r\nSubject: s\r\nX-Tag: sealed\r\nX-Track-Opens: true\r\n`
      const reply = yield* Smtp.send(port, acme.secret, {
        envelope: { from: `hi@${acme.domain}`, to: "ana@example.org" },
        raw: Buffer.concat([Buffer.from(head), entity]),
      })
      const id = /msg_\w+/u.exec(reply)?.[0] ?? assert.fail(reply)
      yield* World.settled({ account_id: acme.account_id, stream_id: id as never }, Duration.seconds(30))
      const bytes = server.mails.find(({ messageId }) => messageId.startsWith(id))?.bytes ?? assert.fail("not arrived")
      const record = `v=DKIM1; k=rsa; p=${acme.sender.public_key}`
      const { results } = yield* Effect.promise(() =>
        dkimVerify(bytes, { resolver: () => Promise.resolve([[record]]) }),
      )
      assert.strictEqual(results[0]?.status.result, "pass")
      assert.include(bytes.toString("latin1"), "MIME-Version: 1.0\r\nContent-")
      assert.strictEqual(bytes.toString("latin1").match(/^MIME-Version:/gimu)?.length, 1)
      const mail = (yield* Smtp.accepted(acme.account_id)).find((each) => each.id === id)
      return { bytes, mail: mail ?? assert.fail("not in the log") }
    }),
  )
})

/** Returns a message of openssl without what belongs to its head: the version of MIME, and lines that end in LF. */
const entityOf = (message: Buffer): Buffer =>
  Buffer.from(
    message
      .toString("latin1")
      .replaceAll(/\r?\n/gu, "\r\n")
      .replace(/^MIME-Version: 1.0\r\n/u, ""),
    "latin1",
  )

layer(Smtp.layer, { excludeTestServices: true, timeout: "120 seconds" })("signed or encrypted mail over SMTP", (it) => {
  it.effect.skipIf(!openssl)("S/MIME verifies and is decrypted behind it (skipped without openssl)", () =>
    Effect.gen(function* () {
      const cwd = yield* certified
      const signer = ["-signer", "cert", "-inkey", "key", "-in", "text"]
      const made = [
        yield* openSsl(cwd, "smime", "-sign", ...signer),
        yield* openSsl(cwd, "cms", "-sign", "-binary", "-crlfeol", ...signer),
        yield* openSsl(cwd, "smime", "-sign", "-nodetach", ...signer),
        yield* openSsl(cwd, "smime", "-encrypt", "-aes256", "-in", "text", "cert"),
        yield* openSsl(cwd, "cms", "-encrypt", "-aes256", "-in", "text", "cert"),
      ].map(entityOf)
      const arrived = yield* passed(made)
      const names: Array<string | undefined> = []
      for (const [nth, { bytes, mail }] of arrived.entries()) {
        const entity = made[nth] ?? Buffer.alloc(0)
        assert.isTrue(bytes.toString("latin1").includes(entity.toString("latin1").trimEnd()), `entity ${nth}`)
        yield* Effect.promise(() => writeFile(join(cwd, "mail"), bytes))
        const decrypts = nth >= 3
        yield* openSsl(
          cwd,
          "cms",
          ...(decrypts
            ? ["-decrypt", "-recip", "cert", "-inkey", "key"]
            : ["-verify", "-CAfile", "cert", "-purpose", "any"]),
          "-in",
          "mail",
          "-out",
          "out",
        )
        const out = yield* Effect.promise(() => readFile(join(cwd, "out"), "latin1"))
        assert.strictEqual(out.trimEnd(), TEXT.trimEnd(), `text ${nth}`)
        names.push(mail.content.attachments[0]?.filename)
        assert.deepStrictEqual([mail.body.html, mail.body.text, mail.tags], [null, null, ["sealed"]])
      }
      assert.deepStrictEqual(names, ["signed.eml", "signed.eml", "smime.eml", "smime.eml", "smime.eml"])
      // A change of one letter is noticed, so that the checks above mean something.
      const broken = arrived[0]?.bytes.toString("latin1").replace("Dear", "Deer") ?? ""
      yield* Effect.promise(() => writeFile(join(cwd, "mail"), broken, "latin1"))
      const verdict = yield* Effect.promise(() =>
        run("openssl", ["smime", "-verify", "-in", "mail", "-CAfile", "cert", "-purpose", "any"], { cwd }).then(
          () => "verified",
          () => "refused",
        ),
      )
      assert.strictEqual(verdict, "refused")
    }),
  )

  it.effect.skipIf(!gpg)("PGP/MIME verifies and is decrypted behind it (skipped without gpg)", () =>
    Effect.gen(function* () {
      const cwd = yield* folder
      const pgp = (...args: ReadonlyArray<string>) =>
        Effect.promise(() =>
          run("gpg", ["--homedir", cwd, "--batch", "--yes", "--trust-model", "always", "--passphrase", "", ...args], {
            cwd,
          }),
        )
      yield* Effect.addFinalizer(() =>
        Effect.promise(() => run("gpgconf", ["--homedir", cwd, "--kill", "all"]).catch(() => undefined)),
      )
      yield* pgp("--quick-generate-key", "hi@acme.test", "default", "default", "1d")
      yield* pgp("--armor", "--output", "text.asc", "--detach-sign", "text")
      yield* pgp("--armor", "--output", "text.pgp", "--recipient", "hi@acme.test", "--encrypt", "text")
      const [signature, secret] = yield* Effect.promise(() =>
        Promise.all(["text.asc", "text.pgp"].map((name) => readFile(join(cwd, name), "latin1"))),
      )
      const signed = `Content-Type: multipart/signed; micalg=pgp-sha512;\r\n\tprotocol="application/pgp-signature"; boundary="b 1"\r\n\r\nThis is signed.\r\n--b 1\r\n${TEXT}\r\n--b 1\r\nContent-Type: application/pgp-signature; name="signature.asc"\r\n\r\n${signature}\r\n--b 1--\r\n`
      const encrypted = `Content-Type: multipart/encrypted; protocol="application/pgp-encrypted"; boundary=b2\r\nContent-Description: secret\r\n\r\n--b2\r\nContent-Type: application/pgp-encrypted\r\n\r\nVersion: 1\r\n\r\n--b2\r\nContent-Type: application/octet-stream; name=encrypted.asc\r\n\r\n${secret}\r\n--b2--\r\n`
      const entities = [signed, encrypted].map((text) => Buffer.from(text.replaceAll(/\r?\n/gu, "\r\n"), "latin1"))
      const arrived = yield* passed(entities)
      for (const [nth, { bytes }] of arrived.entries())
        assert.isTrue(
          bytes.toString("latin1").endsWith(`\r\n${entities[nth]?.toString("latin1") ?? ""}`),
          `entity ${nth}`,
        )
      const [text = "", sealed = ""] = arrived.map(({ bytes }) => bytes.toString("latin1"))
      const part = (mail: string, boundary: string, which: number) =>
        mail.split(`\r\n--${boundary}`)[which]?.slice(2) ?? ""
      yield* Effect.promise(() => writeFile(join(cwd, "got"), part(text, "b 1", 1), "latin1"))
      yield* Effect.promise(() =>
        writeFile(join(cwd, "got.asc"), part(text, "b 1", 2).split("\r\n\r\n").slice(1).join("\r\n\r\n")),
      )
      yield* pgp("--verify", "got.asc", "got")
      yield* Effect.promise(() =>
        writeFile(join(cwd, "got.pgp"), part(sealed, "b2", 2).split("\r\n\r\n").slice(1).join("\r\n\r\n")),
      )
      yield* pgp("--output", "out", "--decrypt", "got.pgp")
      assert.strictEqual(yield* Effect.promise(() => readFile(join(cwd, "out"), "latin1")), TEXT)
      assert.deepStrictEqual(
        arrived.map(({ mail }) =>
          mail.content.attachments.map(({ content_type, filename }) => [filename, content_type]),
        ),
        [[["signed.eml", "multipart/signed"]], [["encrypted.eml", "multipart/encrypted"]]],
      )
    }),
  )

  it.effect("keeps bytes beyond ASCII, and each content field once", function* () {
    const body =
      "--b\r\nContent-Type: text/plain; charset=x-unknown\r\n\r\ngr\xfc\xdfe \xff\r\n--b\r\nContent-Type: application/pkcs7-signature\r\n\r\nAAAA\r\n--b--\r\n"
    const fields = 'Content-Type: multipart/signed; protocol="application/pkcs7-signature";\r\n boundary=b\r\n'
    const entity = Buffer.from(`${fields}Content-Type: text/plain\r\nX-Other: 1\r\n\r\n${body}`, "latin1")
    const [mail] = yield* passed([entity])
    const text = mail?.bytes.toString("latin1") ?? ""
    assert.isTrue(text.endsWith(`MIME-Version: 1.0\r\n${fields}\r\n${body}`), text)
    assert.include(text, "\r\nX-Other: 1\r\n")
  })
})
