import { Context, Effect, Layer, type Redacted, Schedule } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { faultProxy } from "../../support/postgres/faultProxy.ts"
import { MIDDLE } from "../../support/WallClock.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"
import * as World from "../../support/world/World.ts"

class Nodes extends Context.Service<Nodes, readonly [ServiceProcess.ServiceProcess, ServiceProcess.ServiceProcess]>()(
  "test/Nodes",
) {
  static readonly layer = Layer.effect(
    Nodes,
    Effect.gen(function* () {
      const { url } = yield* Database.Fresh
      return yield* Effect.all([ServiceProcess.start(url), ServiceProcess.start(url)], { concurrency: 2 })
    }),
  )
}

const TwoNodes = Nodes.layer.pipe(Layer.provideMerge(World.layer))

const DOMAIN = "acme.test"
const message = (n: number) => ({
  from: `hi@${DOMAIN}`,
  to: "ana@example.org",
  subject: `Receipt ${n}`,
  text: "Thank you.",
})

/** An account with a verified domain and a key. */
const sender = Effect.fnUntraced(function* (tenant: World.Tenant = {}) {
  const [node] = yield* Nodes
  const account_id = yield* World.account(tenant)
  const key = yield* World.key(account_id)
  const added = yield* Effect.promise(() =>
    node.request("POST", "/v1/domains", { key: key.secret, body: { name: DOMAIN } }),
  )
  assert.strictEqual(added.status, 201)
  return { account_id, key: key.secret, keyId: key.id }
})

const send = (node: ServiceProcess.ServiceProcess, key: string, n: number, idempotencyKey?: string) =>
  node.request("POST", "/v1/email/send", {
    key,
    body: message(n),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  })

/** Returns the ids of the account's accepted messages, as its event feed has them. */
const accepted = Effect.fnUntraced(function* (key: string) {
  const [node] = yield* Nodes
  const { json } = yield* Effect.promise(() => node.request("GET", "/v1/events?types=email.queued&limit=1000", { key }))
  return (json.data as ReadonlyArray<{ readonly stream_id: string }>).map(({ stream_id }) => stream_id).toSorted()
})

/** Process whose month does not end during a test. */
const inMiddleOfMonth = (url: Redacted.Redacted) =>
  ServiceProcess.startApi(url, [
    `--import=${new URL("../../support/process/beginAt.ts", import.meta.url).href}?${MIDDLE}`,
  ])

const PAIRS = 20
const QUOTA = 50
/** Timeout of tests that start another process. */
const SLOW = 600_000

layer(TwoNodes, { excludeTestServices: true })("two processes on one database", (it) => {
  it.effect("accept one message of duplicates that arrive at both", function* () {
    const nodes = yield* Nodes
    const { key } = yield* sender()
    const families = yield* Effect.promise(() =>
      Promise.all(
        Array.from({ length: PAIRS }, (_, n) =>
          Promise.all([...nodes, ...nodes].map((node) => send(node, key, n, `twin-${n}`))),
        ),
      ),
    )
    for (const family of families) {
      assert.deepStrictEqual(ServiceProcess.countByStatus(family), { 200: 4 })
      assert.lengthOf(new Set(family.map(({ json }) => JSON.stringify(json))), 1)
      const first = family.filter(({ headers }) => headers.get("idempotent-replayed") !== "true")
      assert.lengthOf(first, 1)
    }
    const ids = families.map(([first]) => String(first?.json.id))
    assert.deepStrictEqual(yield* accepted(key), ids.sort())
  })

  it.effect(
    "replay at the one what the other committed before it was killed, unheard",
    function* () {
      const [survivor] = yield* Nodes
      const { key } = yield* sender()
      const { url } = yield* Database.Fresh
      const proxy = yield* faultProxy(url)
      const doomed = yield* ServiceProcess.startApi(proxy.url)
      proxy.inject("silent")
      const unheard = send(doomed, key, 1, "once").then(
        () => "answered",
        () => "never answered",
      )
      yield* accepted(key).pipe(
        Effect.repeat({ until: (ids) => ids.length > 0, schedule: Schedule.spaced("200 millis") }),
      )
      yield* doomed.kill
      assert.strictEqual(yield* Effect.promise(() => unheard), "never answered")
      assert.strictEqual(proxy.struck(), 1)

      const again = yield* Effect.promise(() => send(survivor, key, 1, "once"))
      assert.strictEqual(again.status, 200)
      assert.strictEqual(again.headers.get("idempotent-replayed"), "true")
      assert.deepStrictEqual(yield* accepted(key), [again.json.id])
    },
    SLOW,
  )

  it.effect(
    "accept exactly the rest of the monthly quota",
    function* () {
      const { url } = yield* Database.Fresh
      const nodes = yield* Effect.all([inMiddleOfMonth(url), inMiddleOfMonth(url)], { concurrency: 2 })
      const { key } = yield* sender({ limits: { monthly_emails: QUOTA } })
      const halves = yield* Effect.promise(() =>
        Promise.all(nodes.map((node) => ServiceProcess.sendMany(QUOTA, (n) => send(node, key, n)))),
      )
      const answers = halves.flat()
      assert.deepStrictEqual(ServiceProcess.countByStatus(answers), { 200: QUOTA, 429: QUOTA })
      const refused = answers.filter(({ status }) => status === 429)
      assert.isTrue(refused.every(({ json }) => json.error.reason === "monthly_quota"))
      assert.lengthOf(yield* accepted(key), QUOTA)
      const account = yield* Effect.promise(() => nodes[0].request("GET", "/v1/account", { key }))
      assert.strictEqual(account.json.usage.emails, QUOTA)
    },
    SLOW,
  )

  it.effect(
    "refuse a key from the answer on with which a third revoked it",
    function* () {
      const nodes = yield* Nodes
      const { url } = yield* Database.Fresh
      const third = yield* ServiceProcess.startApi(url)
      const { account_id, key: admin } = yield* sender({ limits: { other: 1_000_000 } })
      let told = 0
      for (let round = 0; round < REVOCATIONS; round++) {
        const { id: keyId, secret } = yield* World.key(account_id)
        const { answers, revoked } = yield* Effect.promise(() => hammerUntilRevoked(nodes, third, admin, keyId, secret))
        const after = answers.filter(({ sentAt: asked }) => asked > revoked.answeredAt)
        assert.isAtLeast(after.length, nodes.length * LOOPS)
        // So many requests without a valid key are limited in the end.
        assert.isTrue(
          after.every(({ headers, status }) => status === 401 || headers.get("x-ratelimit-limit") === "120"),
        )
        assert.isFalse(after.some(({ status }) => status === 200))
        told += answers.filter(({ status }) => status === 401).length
        // No request was refused before the revocation was sent.
        const before = answers.filter(({ answeredAt: answered }) => answered < revoked.sentAt)
        assert.isAtLeast(before.length, WARM)
        assert.deepStrictEqual(ServiceProcess.countByStatus(before), { 200: before.length })
      }
      // The first refusal, possibly before the response to the revocation.
      assert.isAbove(told, 0)
    },
    SLOW,
  )
})

const REVOCATIONS = 2
/** Number of clients of each process. */
const LOOPS = 8
/** Number of responses before the key is revoked. */
const WARM = 60

/** Number of further requests of each client after the response to the revocation. */
const hammerUntilRevoked = async (
  nodes: ReadonlyArray<ServiceProcess.ServiceProcess>,
  third: ServiceProcess.ServiceProcess,
  admin: string,
  keyId: string,
  key: string,
) => {
  const answers: Array<ServiceProcess.Answer> = []
  const revocation: { answer?: ServiceProcess.Answer } = {}
  let warm: () => void = () => {}
  const warmedUp = new Promise<void>((resolve) => (warm = resolve))
  const loop = async (node: ServiceProcess.ServiceProcess) => {
    for (let late = 0; late < 2;) {
      if (revocation.answer !== undefined) late++
      answers.push(await node.request("GET", "/v1/account", { key }))
      if (answers.length === WARM) warm()
    }
  }
  const loops = nodes.flatMap((node) => Array.from({ length: LOOPS }, () => loop(node)))
  await warmedUp
  const revoked = await third.request("DELETE", `/v1/api-keys/${keyId}`, { key: admin })
  revocation.answer = revoked
  assert.strictEqual(revoked.status, 200)
  await Promise.all(loops)
  return { answers, revoked }
}
