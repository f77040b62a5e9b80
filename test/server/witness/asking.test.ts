import * as Dns from "@waybill/mail/dns/Dns"
import * as Network from "@waybill/mail/dns/Network"
import { parseVkey } from "@waybill/verify/SignedNote"
import * as Cosignatures from "@waybill/store/transparency/Cosignatures"
import { Sql } from "@waybill/store/postgres/Sql"
import { ConfigProvider, Effect, Result } from "effect"
import * as Witnesses from "../../../apps/server/src/settings/Witnesses.ts"
import { askWitnesses } from "../../../apps/server/src/worker/periodic/askWitnesses.ts"
import * as Cosigner from "../../../apps/server/src/witness/Cosigner.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as WebhookReceiver from "../../support/web/WebhookReceiver.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"
import { buildLog } from "../../support/world/logTree.ts"
import * as World from "../../support/world/World.ts"

const LOOPBACK = Result.getOrThrow(Network.parseAll(["127.0.0.0/8"]))
const SECONDS = 1_800_000_000

const cosignerOf = (name: string, seed: number) =>
  Effect.promise(() => Cosigner.make(name, new Uint8Array(32).fill(seed)))

const ask = (witnesses: ReadonlyArray<Witnesses.LogWitness>, allowed: Network.Networks) =>
  askWitnesses(witnesses, allowed).pipe(Effect.provide(Dns.Dns.layer({})))

/** The note in a request for a cosignature. */
const textIn = (body: string): string => {
  const note = body.slice(body.indexOf("\n\n") + 2)
  return note.slice(0, note.indexOf("\n\n") + 1)
}

/** A witness that answers each request as it is told, and never looks at a proof. */
const witnessOf = Effect.fnUntraced(function* (
  cosigner: Cosigner.Cosigner,
  answer: (text: string, old: string, nth: number) => WebhookReceiver.Answer = (text) => ({
    status: 200,
    body: cosigner.cosign(text, SECONDS),
  }),
) {
  const receiver = yield* WebhookReceiver.listen({
    answer: ({ body }, nth) => answer(textIn(body), body.slice("old ".length, body.indexOf("\n")), nth),
  })
  const url = receiver.url.replace("/hook", "")
  return {
    calls: receiver.calls,
    witness: { url, text: cosigner.text, key: yield* Effect.promise(() => parseVkey(cosigner.text)) },
  }
})

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "120 seconds" })(
  "an instance that asks witnesses",
  (it) => {
    /** An account with a mail in the signed log, and no cosignature. */
    const setUp = Effect.gen(function* () {
      const customer = yield* signUp({ domains: ["acme.test"] })
      const id = yield* customer.send({
        to: "ana@example.org",
        subject: "Your ticket",
        scheduled_at: new Date(Date.now() + 3_600_000).toISOString(),
      })
      yield* buildLog
      const sql = yield* Sql
      yield* sql`TRUNCATE log_cosignatures`
      yield* sql`UPDATE log_heads SET asked_until = NULL`
      // It is asked for again and again, with 120 requests a minute.
      const receipt = Effect.delay(
        Effect.map(customer.call("GET", `/v1/email/${id}/receipt`), ({ json }) => json),
        "200 millis",
      )
      return { ...customer, receipt }
    })

    it.effect("stores what they sign, and shows it in receipts with their keys", function* () {
      const { receipt } = yield* setUp
      const [one, other] = [yield* cosignerOf("w.example/1", 1), yield* cosignerOf("w.example/2", 2)]
      const first = yield* witnessOf(one, (text, old) =>
        old === "0" ? { status: 409, body: "1\n" } : { status: 200, body: one.cosign(text, SECONDS) },
      )
      const second = yield* witnessOf(other)
      yield* ask([first.witness, second.witness], LOOPBACK)
      const { checkpoint, cosignatures, keys } = yield* World.until(receipt, (json) => json.cosignatures?.length === 2)
      assert.includeMembers(keys, [one.text, other.text])
      const text = textIn(`\n\n${checkpoint}`)
      assert.sameMembers(
        cosignatures,
        [one, other].map((key) => key.cosign(text, SECONDS).trim()),
      )
      assert.match(first.calls[1]?.body ?? "", /^old 1\n(?:\S{44}\n)+\n/u)
    })

    it.effect("takes no signature that is not by the key of the witness, and asks again", function* () {
      const { receipt } = yield* setUp
      const [right, wrong] = [yield* cosignerOf("w.example/1", 1), yield* cosignerOf("w.example/1", 2)]
      const answers: ReadonlyArray<(text: string) => WebhookReceiver.Answer> = [
        (text) => ({ status: 200, body: wrong.cosign(text, SECONDS) }),
        () => ({ status: 200, body: right.cosign("another text\n", SECONDS) }),
        () => "drop",
        (text) => ({ status: 200, body: `nonsense\n${wrong.cosign(text, SECONDS)}${right.cosign(text, SECONDS)}` }),
      ]
      const { calls, witness } = yield* witnessOf(right, (text, _, nth) => answers[nth - 1]?.(text) ?? "drop")
      yield* ask([witness], LOOPBACK)
      const { cosignatures } = yield* World.until(receipt, (json) => json.cosignatures?.length > 0)
      assert.lengthOf(cosignatures, 1)
      assert.lengthOf(calls, answers.length)
    })

    // threat: internal-addresses
    it.effect("reaches no witness in a private network that is not allowed", function* () {
      const { receipt } = yield* setUp
      const [hidden, shown] = [
        yield* witnessOf(yield* cosignerOf("w.example/1", 1)),
        yield* witnessOf(yield* cosignerOf("w.example/2", 2)),
      ]
      yield* ask([hidden.witness], [])
      yield* ask([shown.witness], LOOPBACK)
      yield* World.until(receipt, (json) => json.cosignatures?.length === 1)
      assert.deepStrictEqual(hidden.calls, [])
    })

    it.effect("keeps the newest head of each number of signatures", function* () {
      yield* setUp
      const head = (yield* Cosignatures.newest) ?? assert.fail()
      const sql = yield* Sql
      const sign = (size: number, ...witnesses: ReadonlyArray<string>) =>
        Cosignatures.store(
          { ...head.tree, size },
          witnesses.map((witness) => ({ witness, line: `by ${witness}` })),
        )
      yield* sign(10, "a", "b")
      yield* sign(11, "a")
      yield* sign(12, "b")
      yield* sign(13, "a")
      const sizes = sql<{ readonly size: number; readonly count: number }>`
      SELECT size::int AS size, cardinality(witnesses) AS count FROM log_cosignatures ORDER BY size`
      assert.deepStrictEqual(yield* sizes, [
        { size: 10, count: 2 },
        { size: 13, count: 1 },
      ])
      yield* sign(13, "b")
      assert.deepStrictEqual(yield* sizes, [{ size: 13, count: 2 }])
      const { tree } = head.tree
      assert.strictEqual((yield* Cosignatures.covering(sql, tree, 12))?.size, 13)
      assert.isUndefined(yield* Cosignatures.covering(sql, tree, 13))
      assert.isTrue(yield* Cosignatures.claim(60))
      assert.isFalse(yield* Cosignatures.claim(60))
      yield* Cosignatures.release
      assert.isTrue(yield* Cosignatures.claim(60))
    })

    it.effect("reads its witnesses from a setting, and says what is wrong with one", function* () {
      const { text } = yield* cosignerOf("w.example/1", 1)
      const read = (WITNESSES: string) => Witnesses.config("WITNESSES").parse(ConfigProvider.fromUnknown({ WITNESSES }))
      const [witness] = yield* read(`https://w.example/=${text}`)
      assert.deepInclude(witness, { url: "https://w.example", text })
      assert.deepStrictEqual(yield* read(""), [])
      const log = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
      for (const wrong of [
        text,
        "https://w.example",
        `https://w.example=${text}x`,
        `https://u:p@w.example=${text}`,
        `https://w.example=${log}`,
      ])
        assert.include(String((yield* Effect.flip(read(wrong))).message), "https://witness.example.org=")
      const nine = Array.from({ length: 9 }, () => `https://w.example=${text}`).join()
      assert.include(String((yield* Effect.flip(read(nine))).message), "at most 8")
    })
  },
)
