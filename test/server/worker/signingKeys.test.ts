import { PgClient } from "@effect/sql-pg"
import type { DkimKey } from "@waybill/domain/domain/DkimKey"
import * as Domain from "@waybill/domain/domain/Domain"
import * as DomainCheck from "@waybill/domain/domain/DomainCheck"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as DkimKeys from "@waybill/mail/dkim/DkimKey"
import * as Recipient from "@waybill/domain/email/Recipient"
import type { DomainRecord } from "@waybill/store/readmodels/Domains"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Secrets } from "@waybill/store/secrets/Secrets"
import { Clock, Effect, Layer, Logger, Option, Redacted } from "effect"
import { SigningKeys } from "../../../apps/server/src/worker/delivery/SigningKeys.ts"
import { dkimKey, domainName } from "../../domain/values/examples.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import { id } from "../../support/history.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"

/** A worker, the mail its server received and its log lines about keys. */
const working = Effect.gen(function* () {
  const { url } = yield* Database.Fresh
  const server = yield* SmtpServer.listen()
  const said: Array<unknown> = []
  const logger = Logger.make(({ message }) => {
    const [words, fields] = message as ReadonlyArray<unknown>
    if (/DKIM key/u.test(String(words))) said.push(fields)
  })
  yield* Layer.build(World.worker(url, { relay: World.relay(server) })).pipe(Effect.provide(Logger.layer([logger])))
  return { server, said }
})

/** A sender whose second key is in DNS. */
const sender = Effect.fnUntraced(function* (name: string) {
  const from = yield* World.verifiedDomain(name)
  yield* World.addEd25519Key(from)
  const { commit } = yield* EventStore
  const now = Timestamp.fromMillis(yield* Clock.currentTimeMillis)
  yield* Effect.orDie(
    commit(Domain, { account_id: from.account_id, stream_id: from.domain_id }, DomainCheck.verifyReserved(now)),
  )
  return from
})

const damage = ({ domain_id }: World.SendingDomain, purpose: string) =>
  Effect.flatMap(PgClient.PgClient, (sql) =>
    Effect.orDie(sql`
      UPDATE secrets SET ciphertext = set_byte(ciphertext, 0, get_byte(ciphertext, 0) # 1)
      WHERE id = ${domain_id} AND purpose = ${purpose}`),
  )

const lock = ({ domain_id }: World.SendingDomain, purpose: string) =>
  Effect.flatMap(PgClient.PgClient, (sql) =>
    Effect.orDie(sql`UPDATE secrets SET key_id = 'lost' WHERE id = ${domain_id} AND purpose = ${purpose}`),
  )

const sealOther = (bytes: Uint8Array) => (from: World.SendingDomain, purpose: string) =>
  Effect.flatMap(Secrets, ({ seal }) => seal({ account_id: from.account_id, id: from.domain_id, purpose }, bytes))

const selectors = (bytes: Buffer | undefined) =>
  [...(bytes?.toString() ?? "").matchAll(/^ s=(\w+);/gmu)].map(([, selector]) => selector)

layer(World.layer, { excludeTestServices: true })("mail of a domain with a second DKIM key", (it) => {
  it.effect("has both signatures, or the first alone if the second key fails, which is logged once", function* () {
    const { said, server } = yield* working
    const rsa = Redacted.value((yield* DkimKeys.generateRsa).privateKey)
    const spoils = {
      "well.test": () => Effect.void,
      "damaged.test": damage,
      "locked.test": lock,
      "garbage.test": sealOther(Buffer.from("no key")),
      "another.test": sealOther(rsa),
    }
    for (const [name, spoil] of Object.entries(spoils)) {
      const from = yield* sender(name)
      yield* spoil(from, "dkim:wbe1")
      for (let n = 0; n < 2; n++) yield* World.settled(yield* World.send(from))
      const signed = server.mails.slice(-2).map(({ bytes }) => selectors(bytes))
      const expected = name === "well.test" ? ["wb1", "wbe1"] : ["wb1"]
      assert.deepStrictEqual([name, ...signed], [name, expected, expected])
    }
    const others = Object.keys(spoils).slice(1)
    assert.deepStrictEqual(
      said,
      others.map((domain) => ({ domain, selector: "wbe1" })),
    )
  })

  it.effect("is deferred if the first key cannot be used, whatever the reason", function* () {
    const { server } = yield* working
    const spoils = [damage, lock, sealOther(Buffer.from("no key"))]
    for (const [n, spoil] of spoils.entries()) {
      const from = yield* sender(`first${n}.test`)
      yield* spoil(from, "dkim:wb1")
      const ref = yield* World.send(from)
      const { state } = yield* World.until(World.history(ref), ({ version }) => version > 1)
      const [recipient] = state._tag === "Message" ? state.recipients : []
      assert.isTrue(recipient !== undefined && Recipient.isUnfinished(recipient))
      assert.strictEqual(recipient?.smtp?.category, "signing")
    }
    assert.strictEqual(server.connections().opened, 0)
  })
})

/** Secrets whose content is their name. */
const Sealed = Layer.mock(Secrets)({
  open: ({ purpose }) => Effect.succeed(Option.some(Buffer.from(purpose))),
  sealAnswer: (_, bytes) => bytes,
  openAnswer: (_, bytes) => bytes,
})

layer(SigningKeys.layer.pipe(Layer.provide(Sealed)))("keys that sign", (it) => {
  it.effect("are those of their domain, also if a log that lost its end reuses a selector", function* () {
    const { of } = yield* SigningKeys
    const place = { domain_id: id("DomainId"), name: domainName("acme.test") }
    const privateOf = (key_ref: string) =>
      Effect.map(
        of("acc", { ...place, dkim: { ...dkimKey(), selector: "wb2", key_ref } as DkimKey } as DomainRecord),
        (keys) => keys.map(({ id, privateKey }) => [id, Buffer.from(Redacted.value(privateKey)).toString()] as const),
      )
    const [lost] = yield* privateOf("dkim:wb2:lost")
    const [made] = yield* privateOf("dkim:wb2:made")
    assert.deepStrictEqual([lost?.[1], made?.[1]], ["dkim:wb2:lost", "dkim:wb2:made"])
    // The id under which a parsed key is cached.
    assert.notStrictEqual(lost?.[0], made?.[0])
  })
})
