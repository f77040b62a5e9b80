import * as Account from "@waybill/domain/account/Account"
import type { EmailId } from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Network from "@waybill/mail/dns/Network"
import * as Unsubscribe from "@waybill/mail/tokens/Unsubscribe"
import { EventStore } from "@waybill/store/commit/EventStore"
import { InstanceKey } from "@waybill/store/secrets/InstanceKey"
import * as Mask from "@waybill/store/erasure/Mask"
import * as Suppressions from "@waybill/store/readmodels/Suppressions"
import { Effect, Layer, Option, Redacted, Result } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { createServer } from "node:http"
import { Sql } from "@waybill/store/postgres/Sql"
import * as unsubscribeRoute from "../../../apps/server/src/http/pages/UnsubscribePage.ts"
import * as UnsubscribeLinks from "../../../apps/server/src/links/UnsubscribeLinks.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { MIDDLE, StandingClock } from "../../support/WallClock.ts"
import * as World from "../../support/world/World.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import { NOWHERE } from "../../support/nowhere.ts"

const BASE = "https://mail.acme.test"
const INSTANCE = InstanceKey.layer({ file: NOWHERE, text: Option.some(Redacted.make(World.INSTANCE_KEY)) })

/** Creates an account that an email can be found by. */
const sender = Effect.gen(function* () {
  const from = yield* World.verifiedDomain()
  const store = yield* EventStore
  const { account_id } = from
  const create = Account.create(Timestamp.fromMillis(0), account_id, "Acme", "business")
  yield* Effect.orDie(store.commit(Account, { account_id, stream_id: account_id }, create))
  return from
})

const PROXIES = Result.getOrThrow(Network.parseAll(["127.0.0.0/8"]))

const Site = HttpRouter.serve(unsubscribeRoute.layer(PROXIES), { disableLogger: true, disableListenLog: true }).pipe(
  Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
  Layer.provide(StandingClock.layer(MIDDLE)),
)

layer(Site.pipe(Layer.provideMerge(INSTANCE), Layer.provideMerge(World.layer)), { excludeTestServices: true })(
  "one-click unsubscribing",
  (it) => {
    const request = (method: string, path: string) =>
      Effect.gen(function* () {
        const { address } = yield* HttpServer.HttpServer
        const port = "port" in address ? address.port : 0
        const response = yield* Effect.promise(() =>
          fetch(`http://127.0.0.1:${port}${path}`, {
            method,
            headers: { "x-forwarded-for": "203.0.113.9, 127.0.0.2" },
            ...(method === "POST" ? { body: new URLSearchParams({ "List-Unsubscribe": "One-Click" }) } : {}),
          }),
        )
        return { status: response.status, text: yield* Effect.promise(() => response.text()) }
      })
    const reasons = (account_id: string) =>
      Effect.map(Suppressions.list({ account_id, limit: 10 }), ({ data }) =>
        (data as ReadonlyArray<{ readonly email: string; readonly reason: string; readonly email_id: string }>).map(
          ({ email, reason }) => [email, reason],
        ),
      )

    it.effect("is offered in sent mail with a signed link, and suppresses the recipient", function* () {
      const { url } = yield* Database.Fresh
      const server = yield* SmtpServer.listen()
      const [key = new Uint8Array()] = yield* UnsubscribeLinks.unsubscribeKeys
      yield* Layer.build(
        World.worker(
          url,
          { relay: World.relay(server) },
          { unsubscribeUrl: UnsubscribeLinks.unsubscribeUrl(BASE, key) },
        ),
      )
      const from = yield* sender
      const to = [{ address: "ana@example.org" }]
      for (const over of [
        { to, list_unsubscribe: true },
        { to, list_unsubscribe: false },
        { to: [...to, { address: "bob@example.org" }], list_unsubscribe: true },
      ]) {
        yield* World.settled(yield* World.send(from, over))
      }
      const offers = server.mails.map(
        ({ bytes }) =>
          /^List-Unsubscribe:\s+<([^>]+)>/mu.exec(bytes.toString("latin1").replace(/\r\n[ \t]+/gu, " "))?.[1],
      )
      // With several recipients, one address would let each of them unsubscribe the others.
      assert.deepStrictEqual(
        offers.map((offer) => offer?.startsWith(`${BASE}${Unsubscribe.PATH}`)),
        [true, undefined, undefined],
      )
      const head = server.mails[0]?.bytes.toString("latin1") ?? ""
      assert.include(head, "List-Unsubscribe-Post: List-Unsubscribe=One-Click")
      const signed = /h=([^;]+);/u.exec(head)?.[1]?.replace(/\s/gu, "").split(":") ?? []
      assert.includeMembers(signed, ["List-Unsubscribe", "List-Unsubscribe-Post"])

      const path = new URL(offers[0] ?? "").pathname
      const looked = yield* request("GET", path)
      assert.deepStrictEqual([looked.status, looked.text.includes("<form")], [200, true])
      assert.deepStrictEqual(yield* reasons(from.account_id), [])
      for (const _ of [1, 2]) assert.strictEqual((yield* request("POST", path)).status, 200)
      assert.deepStrictEqual(yield* reasons(from.account_id), [["ana@example.org", "unsubscribe"]])
      const sql = yield* Sql
      // Kept as evidence; no endpoint shows the address of an actor that is the service.
      const addresses = yield* sql`
          SELECT meta ->> 'address' AS address FROM events
          WHERE account_id = ${from.account_id} AND type = 'SuppressionAdded'`
      assert.deepStrictEqual(addresses, [{ address: "203.0.113.9" }])
      const later = yield* World.send(from, { to })
      const { state } = yield* World.settled(later)
      assert.strictEqual(state._tag === "Message" ? state.recipients[0]?.status : "", "suppressed")
    })

    it.effect("refuses forged tokens, other keys' tokens and unknown emails", function* () {
      const from = yield* sender
      const { account_id, stream_id: email_id } = yield* World.send(from)
      const mail = { account_id, email_id }
      const [key = new Uint8Array()] = yield* UnsubscribeLinks.unsubscribeKeys
      const good = Unsubscribe.token(key, mail)
      const gone = Unsubscribe.token(key, { account_id, email_id: `msg_${"0".repeat(26)}` as EmailId })
      const foreign = Unsubscribe.token(new Uint8Array(32), mail)
      const forged = `${good.slice(0, -1)}${good.endsWith("0") ? "1" : "0"}`
      for (const token of [forged, foreign, gone, "x", `${good}0`, `${good}%0a`, `%20${good}`]) {
        assert.strictEqual((yield* request("POST", Unsubscribe.PATH + token)).status, 404, token)
      }
      assert.deepStrictEqual(yield* reasons(from.account_id), [])
    })

    // threat: erased-people
    it.effect("records nothing about an erased recipient", function* () {
      const from = yield* sender
      const erased = Mask.replacement(Buffer.alloc(8))
      const { account_id, stream_id: email_id } = yield* World.send(from, {
        to: [{ address: erased }],
        list_unsubscribe: true,
      })
      const [key = new Uint8Array()] = yield* UnsubscribeLinks.unsubscribeKeys
      assert.strictEqual(
        (yield* request("POST", Unsubscribe.PATH + Unsubscribe.token(key, { account_id, email_id }))).status,
        404,
      )
      assert.deepStrictEqual(yield* reasons(from.account_id), [])
    })

    // threat: forged-visits
    it.effect("queries the database a few times per minute and email, however often repeated", function* () {
      const from = yield* sender
      const [one, other] = [yield* World.send(from), yield* World.send(from)]
      const [key = new Uint8Array()] = yield* UnsubscribeLinks.unsubscribeKeys
      const post = ({ account_id, stream_id: email_id }: typeof one) =>
        request("POST", Unsubscribe.PATH + Unsubscribe.token(key, { account_id, email_id }))
      const answers = yield* Effect.forEach(Array.from({ length: 25 }), () => post(one))
      const { MAX_UNSUBSCRIBES_PER_MINUTE: most } = UnsubscribeLinks
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [...Array<number>(most).fill(200), ...Array<number>(25 - most).fill(429)],
      )
      assert.strictEqual((yield* post(other)).status, 200)
    })

    it("counts a bounded number of emails separately, and restarts each minute", () => {
      const isAdmitted = UnsubscribeLinks.makeWindows()
      const email = (nth: number) => `msg_${nth}` as EmailId
      const admitted = (nth: number, now_ms: number, times: number) =>
        Array.from({ length: times }, () => isAdmitted(email(nth), now_ms)).filter(Boolean).length
      assert.deepStrictEqual([admitted(0, 0, 15), admitted(1, 0, 3), admitted(0, 60_000, 15)], [10, 3, 10])
      for (let nth = 2; nth < UnsubscribeLinks.MAX_UNSUBSCRIBES_COUNTED + 2; nth++) isAdmitted(email(nth), 60_000)
      assert.strictEqual(admitted(0, 60_000, 15), 10)
    })

    it.effect("is not offered without https", function* () {
      const from = yield* World.verifiedDomain()
      const { state } = yield* World.history(yield* World.send(from))
      if (state._tag !== "Message") return assert.fail("no message")
      const [key = new Uint8Array()] = yield* UnsubscribeLinks.unsubscribeKeys
      assert.strictEqual(
        UnsubscribeLinks.unsubscribeUrl("http://127.0.0.1:3025", key)(from.account_id, state),
        undefined,
      )
      assert.match(
        UnsubscribeLinks.unsubscribeUrl(`${BASE}/`, key)(from.account_id, state) ?? "",
        /^https:\/\/mail\.acme\.test\/unsubscribe\/[0-9a-z-]+$/u,
      )
    })
  },
)
