import { PgClient } from "@effect/sql-pg"
import type { AccountId } from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as WebhookRetry from "@waybill/domain/webhook/WebhookRetry"
import * as Leases from "@waybill/store/outbox/Leases"
import * as BusyEndpoints from "@waybill/store/webhooks/BusyEndpoints"
import * as WebhookDeliveries from "@waybill/store/webhooks/WebhookDeliveries"
import { Deferred, Effect, Option, Random, Result } from "effect"
import { now } from "../../operate/fresh.ts"
import * as Traces from "../../observability/Traces.ts"
import * as callWebhook from "./callWebhook.ts"
import * as EndpointTurns from "./EndpointTurns.ts"
import * as Pipeline from "../Pipeline.ts"
import * as FailingWebhooks from "./FailingWebhooks.ts"
import * as CallResults from "./CallResults.ts"
import { webhookPayload } from "./webhookPayload.ts"
import * as WebhookSecrets from "./WebhookSecrets.ts"

/** Calls that one process has under way, over all endpoints. */
export const MAX_CALLS = 1_000
/** A backlog is set aside at most this often for each endpoint. */
export const PARK_EVERY_MS = 1_000
const GONE = 410

export interface Options extends callWebhook.Options {
  /** The next try after so many failed ones. Tests don't wait for hours. */
  readonly nextAt?: (now: Timestamp.Timestamp, attempts: number, random: number) => Timestamp.Timestamp | null
}

/** Calls the endpoints of webhooks, and writes down how each call went. */
export const make = Effect.fnUntraced(function* (options: Options) {
  const sql = yield* PgClient.PgClient
  const call = yield* callWebhook.make(options)
  const settle = yield* CallResults.make
  const secretsOf = yield* WebhookSecrets.make
  const nextAt = options.nextAt ?? WebhookRetry.nextAt
  const retire = FailingWebhooks.make()
  const turns = EndpointTurns.make()
  const parked = new Map<string, Timestamp.Timestamp>()

  const attempt = Effect.fnUntraced(function* (dispatch: WebhookDeliveries.Dispatch) {
    const { account_id, event_id, webhook, webhook_id } = dispatch
    if (webhook === null) return yield* notCalled("", "the webhook is disabled or deleted")
    const found = yield* Effect.result(secretsOf(account_id, webhook_id, webhook.signing, yield* now))
    if (Result.isFailure(found)) return yield* notCalled(webhook.url, found.failure.message)
    const secrets = found.success
    // Never unsigned: a receiver that checks would refuse it, and one that does not would learn not to.
    if (secrets.length === 0) return yield* notCalled(webhook.url, "the signing secret cannot be found")
    return yield* call({ url: webhook.url, id: event_id, body: webhookPayload(dispatch), secrets })
  })

  const work = Effect.fnUntraced(function* (job: Pipeline.Job, dispatch: WebhookDeliveries.Dispatch) {
    const { account_id, webhook_id } = dispatch
    const begin = Effect.suspend(() => (job.start() ? Effect.asSome(attempt(dispatch)) : Effect.succeedNone))
    const turn = yield* turns.take(
      webhook_id,
      begin,
      Option.match({ onNone: () => true, onSome: callWebhook.isAnswered }),
    )
    if (Option.isNone(turn)) return yield* setAside([job])
    if (Option.isNone(turn.value)) return yield* job.giveBack
    const made = turn.value.value
    job.settle()
    const counted = yield* settle(yield* settled(job, dispatch, made, nextAt))
    if (!counted || dispatch.webhook === null) return
    const { at, status, url } = made
    const called = { url, at: at as Timestamp.Timestamp }
    yield* retire({ account_id: account_id as AccountId, webhook_id, status, ok: isOk(made), called })
  })

  /** Back into the outbox for a while, with what waits there for the same endpoint. */
  const setAside = together(function* (jobs: ReadonlyArray<Pipeline.Job>) {
    for (const job of jobs) job.settle()
    yield* BusyEndpoints.deferClaimed(
      sql,
      jobs.map(({ row }) => row),
    )
    const at = yield* now
    for (const { account_id, stream_id } of new Map(jobs.map(({ row }) => [row.stream_id, row])).values()) {
      const until = parked.get(stream_id)
      if (until !== undefined && at < until) continue
      parked.delete(stream_id)
      parked.set(stream_id, Timestamp.plus(at, PARK_EVERY_MS))
      const oldest = parked.keys().next()
      if (parked.size > EndpointTurns.MAX_TROUBLED && oldest.done !== true) parked.delete(oldest.value)
      yield* BusyEndpoints.defer(sql, account_id, stream_id)
    }
  })

  return yield* Pipeline.make({
    kind: "webhook",
    inFlight: MAX_CALLS,
    prepare: Effect.fnUntraced(function* (jobs) {
      const stuck = jobs.filter(({ row }) => turns.isStuck(row.stream_id))
      const allAside = yield* Effect.cached(setAside(stuck))
      const others = jobs.filter((job) => !stuck.includes(job)).map(({ row }) => row)
      const found = yield* Effect.orDie(
        WebhookDeliveries.dispatches(
          sql,
          others.map(({ account_id }) => account_id),
          others.map(({ id }) => id),
        ),
      )
      const byId = new Map(found.map((dispatch) => [dispatch.id, dispatch]))
      return jobs.map((job) => {
        if (stuck.includes(job)) return allAside
        const dispatch = byId.get(job.row.id)
        // A row without a record has nobody to tell of anything.
        return dispatch === undefined ? Leases.drop(job.row) : followed(work(job, dispatch), dispatch)
      })
    }),
  })
})

/** A line that is sent home at once goes in one statement, not in as many as it is long. */
const together = <A, E>(work: (all: ReadonlyArray<A>) => Generator<Effect.Effect<unknown, E>, void>) => {
  const doAll = Effect.fnUntraced(work)
  let gathering: { readonly all: Array<A>; readonly done: Deferred.Deferred<void, E> } | undefined
  return (some: ReadonlyArray<A>): Effect.Effect<void, E> =>
    Effect.gen(function* () {
      if (gathering !== undefined) {
        gathering.all.push(...some)
        return yield* Deferred.await(gathering.done)
      }
      const mine = { all: [...some], done: Deferred.makeUnsafe<void, E>() }
      const begin = Effect.suspend(() => {
        gathering = undefined
        return doAll(mine.all)
      })
      // Both or neither: what gathers and is never begun would keep everybody after it.
      yield* Effect.uninterruptible(
        Effect.suspend(() => {
          gathering = mine
          return Effect.forkDetach(Effect.andThen(Effect.yieldNow, Deferred.into(begin, mine.done)))
        }),
      )
      return yield* Deferred.await(mine.done)
    })
}

/** A call belongs to the request that led to its event. */
const followed = <A, E, R>(work: Effect.Effect<A, E, R>, dispatch: WebhookDeliveries.Dispatch) =>
  dispatch.event === null
    ? work
    : Traces.following(work, dispatch.event.meta, "webhook", {
        "waybill.account_id": dispatch.account_id,
        "waybill.webhook_id": dispatch.webhook_id,
        "waybill.event_id": dispatch.event_id,
        "waybill.event_type": dispatch.event_type,
      })

const isOk = ({ status }: WebhookDeliveries.Attempt): boolean => status !== null && status >= 200 && status < 300

/** The next try, after the pause of the table (contract §8); 410 and a webhook that is switched off end it. */
const settled = Effect.fnUntraced(function* (
  { row }: Pipeline.Job,
  { account_id, id, webhook }: WebhookDeliveries.Dispatch,
  attempt: WebhookDeliveries.Attempt,
  nextAt: NonNullable<Options["nextAt"]>,
): Effect.fn.Return<WebhookDeliveries.Settled> {
  const at = yield* now
  const ok = isOk(attempt)
  const final = ok || webhook === null || attempt.status === GONE
  const next_attempt_at = final ? null : nextAt(at, row.attempt + 1, yield* Random.next)
  return {
    account_id,
    id,
    status: ok ? "delivered" : next_attempt_at === null ? "failed" : "pending",
    next_attempt_at,
    delivered_at: ok ? at : null,
    attempt,
    token: row.token,
    armed_at: row.available_at,
  }
})

const notCalled = (url: string, error: string) =>
  Effect.map(now, (at): WebhookDeliveries.Attempt => ({
    at,
    url,
    address: null,
    request_headers: {},
    status: null,
    response_headers: {},
    response_body: null,
    duration_ms: 0,
    error,
  }))
