import * as ProviderHooks from "@waybill/store/providers/ProviderHooks"
import * as ProviderEvents from "@waybill/store/providers/ProviderEvents"
import { Secrets } from "@waybill/store/secrets/Secrets"
import { Effect, Layer, Option } from "effect"
import * as HookAddress from "../../../apps/server/src/providers/HookAddress.ts"
import { CALLS_AT_ONCE, MAX_CALL_BYTES } from "../../../apps/server/src/providers/HookRoutes.ts"
import * as Visits from "../../../apps/server/src/links/Visits.ts"
import * as KnownHooks from "../../../apps/server/src/providers/KnownHooks.ts"
import { receiveCall } from "../../../apps/server/src/providers/receiveCall.ts"
import { readCall } from "../../../apps/server/src/providers/formats/readCall.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { dnsZones } from "../../support/mail/dnsZones.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"
import * as Calls from "./calls.ts"
import { makeHook } from "./support.ts"

const SECRET = "waybill:battery staple"
const ROUNDS = 5
/** Longest turn of the event loop while calls are read at once, as a share of their whole time; measured: 0.14. */
const MAX_SHARE = 0.5
/** Time to read the events of a call, as a multiple of parsing it; measured: 1.5. */
const MAX_READ = 5
/** Events of a call that every provider may send; a call has at most 10,000. */
const MANY_EVENTS = 9_900
/** Work on such a call, as a multiple of that on one whose events are of no interest; measured: 8, and 48 with statements for each event. */
const MAX_WORK = 20

/** Milliseconds of this thread, which other processes do not lengthen. */
const threadTime = (): number => {
  const { system, user } = process.threadCpuUsage()
  return (user + system) / 1000
}

const timeOf = (work: () => void): number => {
  const began = threadTime()
  work()
  return threadTime() - began
}

const leastOf = (times: ReadonlyArray<number>): number => Math.min(...times)

/** Returns the longest turn of the event loop while something is under way. */
const longestTurn = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    let longest = 0
    let last = threadTime()
    let isOver = false
    const turn = () => {
      const now = threadTime()
      longest = Math.max(longest, now - last)
      last = now
      if (!isOver) setImmediate(turn)
    }
    setImmediate(turn)
    yield* work
    isOver = true
    return longest
  })

/** As many events as fit into a call, with no more than the fields that every one has. */
const largest = (type: string): string => {
  const event = {
    type,
    event_id: "92356927693813856",
    message_id: "000443ee14578172be22",
    transmission_id: "65832150921904138",
    rcpt_to: "ana@example.org",
    raw_rcpt_to: "ana@example.org",
    timestamp: "1460989507",
    customer_id: "1",
    bounce_class: "10",
    error_code: "550",
    raw_reason: "550 5.1.1 no such user",
  }
  const text = JSON.stringify({ msys: { message_event: event } })
  return `[${Array.from({ length: Math.floor((MAX_CALL_BYTES - 2) / (text.length + 1)) }, () => text).join(",")}]`
}

layer(Layer.mergeAll(dnsZones({}), Visits.layer).pipe(Layer.provideMerge(HttpWorld.layer())), {
  excludeTestServices: true,
  timeout: "90 seconds",
})("calls of providers at their limits", (it) => {
  it.effect("hold the event loop no longer together than one of them does", function* () {
    const [key = new Uint8Array()] = yield* HookAddress.hookKeys
    const token = HookAddress.makeToken(key, "sparkpost")
    yield* (yield* Secrets).seal(HookAddress.secretRef("prv_large"), Buffer.from(SECRET))
    const hook = { id: "prv_large", provider: "sparkpost", name: "t", token_hash: HookAddress.hashOf(token) } as const
    assert.isTrue(yield* ProviderHooks.add(hook))
    // Events that are of no interest, so that the time is that of reading them.
    const bytes = Buffer.from(largest("injection"))
    const headers = { authorization: `Basic ${Buffer.from(SECRET).toString("base64")}` }
    // Bodies that have arrived whole: what is left is to read them.
    const hooks = yield* KnownHooks.make
    const known = Option.getOrThrow(yield* hooks.find("sparkpost", hook.token_hash))
    const call = receiveCall({ provider: "sparkpost", hook: known, hooks, headers, bytes, address: "192.0.2.1" })
    const all = Effect.all(
      Array.from({ length: CALLS_AT_ONCE }, () => call),
      { concurrency: "unbounded" },
    )
    yield* all
    const shares: Array<number> = []
    for (let round = 0; round < ROUNDS; round++) {
      const began = threadTime()
      const longest = yield* longestTurn(all)
      shares.push(longest / (threadTime() - began))
    }
    assert.isBelow(leastOf(shares), MAX_SHARE)
  })

  // threat: provider-calls
  it.effect("cost little more for many events about no known message, of which few are kept", function* () {
    const { id, numbers, send } = yield* makeHook("sendgrid")
    const callOf = (event: string, smtpId: (nth: number) => string) =>
      Calls.SIGNERS.sendgrid(
        Array.from({ length: MANY_EVENTS }, (_, nth) => ({
          event,
          email: `a${nth}@example.org`,
          sg_event_id: `${event} ${nth}`,
          sg_message_id: `${String(nth).padStart(22, "x")}.recvd`,
          "smtp-id": smtpId(nth),
          timestamp: 1,
        })),
        Date.now(),
      )
    const workOf = Effect.fnUntraced(function* (call: Calls.SignedCall) {
      // Nothing that turns meanwhile is measured with it: it would turn as long as the machine is busy.
      const began = threadTime()
      assert.strictEqual((yield* send(call)).status, 200)
      return threadTime() - began
    })
    yield* workOf(callOf("processed", () => "<x@y>"))
    const ignored = yield* workOf(callOf("processed", () => "<x@y>"))
    const foreign = (nth: number) => `<msg_01kakz5xq8e4vb2m0r7c3${String(nth).padStart(5, "0")}@example.net>`
    for (const [what, call] of [
      ["ids of the provider", callOf("bounce", () => "<x@y>")],
      ["ids of another instance", callOf("delivered", foreign)],
    ] as const) {
      const unmatched = yield* workOf(call)
      console.log(what, ignored, unmatched)
      assert.isBelow(unmatched / ignored, MAX_WORK, what)
    }
    assert.deepInclude(yield* numbers, { unmatched: ProviderEvents.MAX_UNMATCHED, recorded: 0 })
    assert.lengthOf(yield* ProviderEvents.unmatched(id, MANY_EVENTS), ProviderEvents.MAX_UNMATCHED)
  })

  it.effect("are read in little more time than they are parsed", function* () {
    const raw = largest("bounce")
    const parses: Array<number> = []
    const reads: Array<number> = []
    for (let round = 0; round < ROUNDS; round++) {
      let body: unknown
      parses.push(timeOf(() => (body = JSON.parse(raw))))
      reads.push(timeOf(() => assert.isAbove(readCall("sparkpost", body).events.length, 4_000)))
    }
    console.log(parses, reads)
    assert.isBelow(leastOf(reads) / leastOf(parses), MAX_READ)
    yield* Effect.void
  })
})
