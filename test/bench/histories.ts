// npm run bench -- histories: cost of one more change of a domain by the length of its stream, and the delay of other
// commits.
import "effect/schema/SchemaJITCompiler/enable"
import * as Domain from "@waybill/domain/domain/Domain"
import type { DomainName } from "@waybill/domain/values/DomainName"
import * as Email from "@waybill/domain/email/Email"
import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Database from "@waybill/store/database/Database"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Context, Effect, Exit, Layer, type Redacted, Result, Scope } from "effect"
import { randomBytes } from "node:crypto"
import * as Measure from "./report/Measure.ts"
import { message } from "./store/message.ts"
import * as TemporaryServer from "./report/TemporaryServer.ts"
import { alone } from "../support/postgres/Database.ts"

const SHORT = 10
const LONG = 10_000
/** Changes of each stream in a round; the short stream stays short after all rounds. */
const CHANGES = 10
const ROUNDS = 5

const NOW = Timestamp.fromMillis(Date.now())
const newId = <Name extends keyof typeof Id.PREFIXES>(name: Name) => Id.make(name, Date.now(), randomBytes(10))

const trackingChanged = (nth: number): Domain.Event => ({
  _tag: "DomainTrackingChanged",
  opens: nth % 2 === 0,
  clicks: false,
  at: NOW,
})

const scope = Scope.makeUnsafe()
const run = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) => Effect.runPromise(Scope.provide(effect, scope))

/** Starts a node with cold caches and an open connection. */
const node = async (url: Redacted.Redacted) => {
  const built = await run(
    Layer.build(EventStore.layer().pipe(Layer.provide([alone, Layer.fresh(Database.layer({ url }))]))),
  )
  const store = Context.get(built, EventStore)
  const send = (account_id: Id.AccountId) => {
    const { event, id } = message()
    return run(
      store.transact({
        account_id,
        streams: [{ aggregate: Email, id, isNew: true }],
        decide: () => Result.succeed({ append: [{ aggregate: Email, id, events: [event] }], answer: id }),
      }),
    )
  }
  await send(newId("AccountId"))
  return { store, send }
}
type Node = Awaited<ReturnType<typeof node>>

/** Creates a domain with a stream of this length, in an account of its own. */
const domain = async ({ store }: Node, events: number) => {
  const ref = { account_id: newId("AccountId"), stream_id: newId("DomainId") }
  const born: Domain.Event = {
    _tag: "DomainAdded",
    domain_id: ref.stream_id,
    name: "acme.test" as DomainName,
    dkim: { selector: "wb1", algorithm: "rsa", public_key: "x".repeat(392), key_ref: "dkim:wb1" },
    transport: null,
    next_check_at: NOW,
    at: NOW,
  }
  const rest = Array.from({ length: events - 1 }, (_, nth) => trackingChanged(nth))
  await run(store.commit(Domain, ref, () => Result.succeed([born, ...rest])))
  return ref
}
type Ref = Awaited<ReturnType<typeof domain>>

const change = ({ store }: Node, ref: Ref) =>
  run(
    store.commit(Domain, ref, (state) =>
      Result.succeed([trackingChanged(state._tag === "Domain" && state.tracking === undefined ? 0 : 1)]),
    ),
  )

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** Sends without a pause, and measures the slowest send from before the work to its end. */
const slowestSend = async (on: Node, work: () => Promise<unknown>): Promise<number> => {
  const account_id = newId("AccountId")
  let isOver = false
  let slowest = 0
  const sending = (async () => {
    while (!isOver) slowest = Math.max(slowest, await timed(() => on.send(account_id)))
  })()
  await work()
  isOver = true
  await sending
  return slowest
}

try {
  const postgres = await run(TemporaryServer.temporaryServer())
  const url = await TemporaryServer.freshDatabase(postgres)
  const environment = await TemporaryServer.environment(postgres)
  const warm = await node(url)
  const short = await domain(warm, SHORT)
  const long = await domain(warm, LONG)
  for (const ref of [short, long]) await change(warm, ref)

  const [shorts, longs, firsts, waits] = [[], [], [], []] as [number[], number[], number[], number[]]
  for (let round = 0; round < ROUNDS; round++) {
    for (let nth = 0; nth < CHANGES; nth++) {
      shorts.push(await timed(() => change(warm, short)))
      longs.push(await timed(() => change(warm, long)))
    }
    const begun = await node(url)
    waits.push(await slowestSend(begun, async () => firsts.push(await timed(() => change(begun, long)))))
  }
  const ratio = Measure.median(longs) / Measure.median(shorts)
  const findings: ReadonlyArray<Measure.Finding> = [
    { what: `a change of a domain of ${SHORT} events`, measured: Measure.spread(shorts), unit: "ms" },
    { what: `of ${LONG} events`, measured: Measure.spread(longs), unit: "ms" },
    { what: "the second against the first", measured: Measure.once(ratio), unit: "times" },
    { what: "the second, as the first of a node that has just begun", measured: Measure.spread(firsts), unit: "ms" },
    { what: "the slowest send beside that", measured: Measure.spread(waits), unit: "ms" },
  ]
  Measure.answer(
    { environment },
    [TemporaryServer.describe(environment), "", Measure.findingsTable(findings)].join("\n"),
    findings,
  )
} finally {
  await Effect.runPromise(Scope.close(scope, Exit.void))
}
