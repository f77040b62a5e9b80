import * as Id from "@waybill/domain/values/Id"
import * as Network from "@waybill/mail/dns/Network"
import type * as SourceAddress from "@waybill/mail/source/SourceAddress"
import type * as WarmUp from "@waybill/mail/source/WarmUp"
import * as Transport from "@waybill/mail/transport/Transport"
import * as SourceAddresses from "@waybill/store/sources/SourceAddresses"
import * as SourcePools from "@waybill/store/sources/SourcePools"
import * as WarmUpPlans from "@waybill/store/sources/WarmUpPlans"
import { Context, Duration, Effect, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import { Sql } from "@waybill/store/postgres/Sql"
import * as SourceChoices from "../../../apps/server/src/sources/SourceChoices.ts"
import { directTransport, type pair } from "../../mail/smtp/mxPair.ts"
import { outgoing, PATIENT } from "../../mail/transport/outgoing.ts"

type Servers = Effect.Success<ReturnType<typeof pair>>

export const ONE = "127.0.0.11"
export const TWO = "127.0.0.12"
/** The only address of the loopback interface in IPv6. */
export const SIX = "::1"
export const ana = ["ana@acme.test"]

/** Empties the tables and sets the test clock to the first day. */
export const clear = Effect.gen(function* () {
  const sql = yield* Sql
  yield* Effect.orDie(sql`TRUNCATE source_pools, warm_up_plans, source_counts CASCADE`)
  yield* TestClock.setTime(0)
})

export const repeat = <A, E, R>(times: number, effect: Effect.Effect<A, E, R>) =>
  Effect.all(
    Array.from({ length: times }, () => effect),
    { concurrency: 10 },
  )

/** Longer than a day of the test clock, in which thousands of reloads would run. */
const RELOAD_EVERY = Duration.days(10)

/** Loopback of both versions. */
const allowed = Result.getOrThrow(Network.parseAll(["127.0.0.0/8", SIX]))

let nextMessage = 0
/** Returns the id of a message of its own. */
export const newId = () => {
  const random = Buffer.alloc(10)
  random.writeUInt32BE((++nextMessage * 2_654_435_761) % 2 ** 32)
  return Id.make("EmailId", 1_763_683_200_000, random)
}

interface Added {
  readonly pool?: string
  readonly ehlo?: string
  readonly plan?: { readonly name: string; readonly days: WarmUp.Plan["days"]; readonly from?: number }
}

/** Adds an address, with its pool and its plan. */
export const add = Effect.fnUntraced(function* (address: string, { ehlo, plan, pool = "default" }: Added = {}) {
  yield* SourcePools.ensure(pool)
  if (plan !== undefined) yield* WarmUpPlans.put(plan.name, { days: plan.days })
  const warm_up = plan === undefined ? null : { plan: plan.name, from: plan.from ?? 0 }
  yield* SourceAddresses.add({ address, pool, ehlo: ehlo ?? null, warm_up })
})

/** A worker's direct transport with its own choices, as another process would have. */
export const worker = Effect.fnUntraced(function* (
  servers: Servers,
  options: Partial<Parameters<typeof SourceChoices.make>[0]> = {},
) {
  const sources = yield* SourceChoices.make({ name: "host.test", host: "one", every: RELOAD_EVERY, ...options })
  const transport = Context.get(
    yield* Layer.build(
      Layer.fresh(directTransport(servers, { name: "kernel.test", timeouts: PATIENT, sources, allowed })),
    ),
    Transport.Transport,
  )
  const send = (
    to: ReadonlyArray<string>,
    owner: SourceAddress.Owner = { account_id: "acc_1", domain_id: "dom_1" },
    emailId?: Id.EmailId,
  ) => Effect.suspend(() => transport.deliver(outgoing({ emailId: emailId ?? newId(), owner }), to))
  return { sources, send }
})
