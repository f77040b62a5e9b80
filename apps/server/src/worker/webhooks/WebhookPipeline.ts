import { Sql } from "@waybill/store/postgres/Sql"
import { LruCache } from "@waybill/runtime/collections/LruCache"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as WebhookFormat from "@waybill/domain/webhook/WebhookFormat"
import * as WebhookRetry from "@waybill/domain/webhook/WebhookRetry"
import type { ClockFact } from "@waybill/store/readmodels/TestClocks"
import * as Leases from "@waybill/store/outbox/Leases"
import * as BusyEndpoints from "@waybill/store/webhooks/BusyEndpoints"
import * as TestClocks from "@waybill/store/readmodels/TestClocks"
import type * as SettledCalls from "@waybill/store/webhooks/SettledCalls"
import * as WebhookDeliveries from "@waybill/store/webhooks/WebhookDeliveries"
import { Effect, Option, PartitionedSemaphore, Random, Result } from "effect"
import type { RecordSettings } from "../../settings/Instance.ts"
import type * as AttachmentLinks from "../../links/AttachmentLinks.ts"
import * as NewIds from "../../process/NewIds.ts"
import * as Traces from "../../observability/Traces.ts"
import { inBatches } from "./inBatches.ts"
import * as InboundBody from "./InboundBody.ts"
import * as CallResults from "./CallResults.ts"
import * as WebhookCaller from "./WebhookCaller.ts"
import * as EndpointTurns from "./EndpointTurns.ts"
import * as FailingWebhooks from "./FailingWebhooks.ts"
import * as Pipelines from "../Pipelines.ts"
import * as Pipeline from "../Pipeline.ts"
import type * as RowBound from "../RowBound.ts"
import * as WebhookPayload from "./WebhookPayload.ts"
import * as WebhookSecrets from "./WebhookSecrets.ts"

/** Maximum number of calls that one process has in flight, over all endpoints. */
export const MAX_CALLS = 1_000
/** Minimum interval between postponements of an endpoint's backlog. */
export const DEFER_EVERY_MS = 1_000

/** The test clock that a call lives on, if it does. */
type Clock = ClockFact | undefined

export interface Options extends WebhookCaller.Options {
  /** Settings that the DNS records of domains follow from. */
  readonly records: RecordSettings
  /** Makes links to the files of received mail. */
  readonly links: Effect.Effect<AttachmentLinks.Links>
  /** Returns the time of the next call after so many failed ones. Replaced by tests. */
  readonly nextAt?: (now: Timestamp.Timestamp, attempts: number, random: number) => Timestamp.Timestamp | null
}

/** Calls the endpoints of webhooks, and writes the result of each call. */
export const make = Effect.fnUntraced(function* (options: Options) {
  const call = yield* WebhookCaller.make(options)
  const held = PartitionedSemaphore.makeUnsafe<string>({ permits: InboundBody.MAX_HELD_KB })
  return yield* Pipelines.make(MAX_CALLS, (bound) => ofDatabase(options, call, held, bound))
})

const ofDatabase = Effect.fnUntraced(function* (
  options: Options,
  call: Effect.Success<ReturnType<typeof WebhookCaller.make>>,
  /** Received mail that calls hold, in KiB; accounts that wait take turns. */
  held: PartitionedSemaphore.PartitionedSemaphore<string>,
  bound: RowBound.RowBound,
) {
  const sql = yield* Sql
  const writeResult = yield* CallResults.make
  const secretsOf = yield* WebhookSecrets.make
  const nextAt = options.nextAt ?? WebhookRetry.nextAt
  const disableIfFailing = FailingWebhooks.make()
  const turns = EndpointTurns.make()
  const postponed = new LruCache<string, Timestamp.Timestamp>({ maxEntries: EndpointTurns.MAX_REMEMBERED })

  const attempt = Effect.fnUntraced(function* (dispatch: WebhookDeliveries.Dispatch, clock: Clock) {
    const { account_id, event_id, webhook, webhook_id } = dispatch
    if (clock?.removed === true) return yield* notCalled(webhook?.url ?? "", "the test clock is deleted")
    if (webhook === null) return yield* notCalled("", "the webhook was disabled")
    if (!WebhookPayload.isInFormat(dispatch)) return yield* notCalled(webhook.url, notInFormat(dispatch))
    const opened = yield* Effect.result(secretsOf(account_id, webhook_id, webhook.signing, yield* NewIds.now))
    if (Result.isFailure(opened) && opened.failure._tag === "StoreUnavailable") return yield* opened.failure
    if (Result.isFailure(opened)) return yield* notCalled(webhook.url, opened.failure.message)
    const { password, secrets } = opened.success
    // Never called unsigned: receivers that verify would refuse it, and others would learn not to verify.
    if (secrets.length === 0) return yield* notCalled(webhook.url, "the signing secret cannot be found")
    const target = { url: webhook.url, id: event_id, secrets, password, svixHeaders: webhook.svix_headers }
    const ecdsa = WebhookFormat.hasEcdsa(dispatch.format)
    if (!InboundBody.isReceived(dispatch))
      return yield* call({ ...target, body: WebhookPayload.bodyOf(dispatch, options.records), ecdsa })
    const receive = Effect.gen(function* () {
      const read = InboundBody.make(yield* options.links, dispatch, options.records)
      const body = yield* Effect.catchTag(read, "Busy", () => Effect.succeed(undefined))
      if (body === undefined) return yield* notCalled(webhook.url, "too much mail is being read at once")
      return yield* call({ ...target, ...body, ecdsa })
    })
    return yield* held.withPermits(account_id, InboundBody.heldKbOf(dispatch))(receive)
  })

  const work = Effect.fnUntraced(function* (
    job: Pipeline.PipelineJob,
    dispatch: WebhookDeliveries.Dispatch,
    clock: Clock,
  ) {
    const { account_id, webhook_id } = dispatch
    const begin = Effect.suspend(() => (job.start() ? Effect.asSome(attempt(dispatch, clock)) : Effect.succeedNone))
    const turn = yield* turns.take(
      webhook_id,
      begin,
      Option.match({ onNone: () => true, onSome: WebhookCaller.isAnswered }),
    )
    if (Option.isNone(turn)) return yield* postpone([job])
    if (Option.isNone(turn.value)) return yield* job.giveBack
    const result = turn.value.value
    job.noteOutcome()
    const isWritten = yield* writeResult(yield* resultOf(job, dispatch, result, nextAt, clock))
    // A test that moves days must not disable a webhook that live mail uses as well.
    if (!isWritten || dispatch.webhook === null || clock !== undefined) return
    const { at, status, url } = result
    yield* disableIfFailing({ account_id, webhook_id, status, ok: isOk(result), called: { url, at } })
  })

  const postponeAll = Effect.fnUntraced(function* (jobs: ReadonlyArray<Pipeline.PipelineJob>) {
    for (const job of jobs) job.noteOutcome()
    yield* BusyEndpoints.deferClaimed(
      sql,
      jobs.map(({ row }) => row),
    )
    const at = yield* NewIds.now
    for (const { account_id, stream_id } of new Map(jobs.map(({ row }) => [row.stream_id, row])).values()) {
      const until = postponed.get(stream_id)
      if (until !== undefined && at < until) continue
      postponed.set(stream_id, Timestamp.plus(at, DEFER_EVERY_MS))
      yield* BusyEndpoints.defer(sql, account_id, stream_id)
    }
  })
  // A queue that is dismissed at once goes back in one statement.
  const postponeBatch = yield* inBatches({
    run: (batches: ReadonlyArray<ReadonlyArray<Pipeline.PipelineJob>>) => Effect.as(postponeAll(batches.flat()), []),
  })
  /** Puts jobs back into the outbox for a while, with the other rows of the same endpoints. */
  const postpone = (jobs: ReadonlyArray<Pipeline.PipelineJob>) => Effect.asVoid(postponeBatch(jobs))

  return yield* Pipeline.make({
    kind: "webhook",
    bound,
    prepare: Effect.fnUntraced(function* (jobs) {
      const stuck = jobs.filter(({ row }) => turns.isStuck(row.stream_id))
      const postponeStuck = yield* Effect.cached(postpone(stuck))
      const others = jobs.filter((job) => !stuck.includes(job)).map(({ row }) => row)
      const dispatches = yield* WebhookDeliveries.dispatches(
        sql,
        others.map(({ account_id }) => account_id),
        others.map(({ id }) => id),
      )
      const clocks = yield* TestClocks.timesOf(others)
      const byId = new Map(dispatches.map((dispatch) => [dispatch.id, dispatch]))
      return (job) => {
        if (stuck.includes(job)) return postponeStuck
        const dispatch = byId.get(job.row.id)
        // A row without a delivery record has nothing to send.
        return dispatch === undefined
          ? Leases.settle(job.row)
          : traced(work(job, dispatch, clocks.get(job.row.clock ?? "")), dispatch)
      }
    }),
  })
})

/** Runs a call in the trace of the request that led to its event. */
const traced = <A, E, R>(work: Effect.Effect<A, E, R>, dispatch: WebhookDeliveries.Dispatch) =>
  dispatch.event === null
    ? work
    : Traces.inTraceOf(work, dispatch.event.meta, "webhook", {
        "waybill.account_id": dispatch.account_id,
        "waybill.webhook_id": dispatch.webhook_id,
        "waybill.event_id": dispatch.event_id,
        "waybill.event_type": dispatch.event_type,
      })

const isOk = ({ status }: WebhookDeliveries.Attempt): boolean => status !== null && status >= 200 && status < 300

const notInFormat = ({ event_type, format }: WebhookDeliveries.Dispatch): string =>
  `the webhook's format ${format} has no ${event_type}`

/**
 * Returns the result to write. Status 410, a disabled webhook and an event that its format has not end the
 * retries.
 */
const resultOf = Effect.fnUntraced(function* (
  { row }: Pipeline.PipelineJob,
  dispatch: WebhookDeliveries.Dispatch,
  attempt: WebhookDeliveries.Attempt,
  nextAt: NonNullable<Options["nextAt"]>,
  clock: Clock,
): Effect.fn.Return<SettledCalls.Settled> {
  const at = clock?.now ?? (yield* NewIds.now)
  const { account_id, id, webhook } = dispatch
  const ok = isOk(attempt)
  const final =
    ok ||
    webhook === null ||
    clock?.removed === true ||
    attempt.status === FailingWebhooks.GONE ||
    !WebhookPayload.isInFormat(dispatch)
  // A test must see the same times in every run.
  const random = clock === undefined ? yield* Random.next : 0.5
  const next_attempt_at = final ? null : nextAt(at, row.attempt + 1, random)
  return {
    account_id,
    id,
    status: ok ? "delivered" : next_attempt_at === null ? "failed" : "pending",
    next_attempt_at,
    delivered_at: ok ? at : null,
    attempt: clock === undefined ? attempt : { ...attempt, at },
    token: row.token,
    armed_at: row.available_at,
  }
})

const notCalled = (url: string, error: string) =>
  Effect.map(NewIds.now, (at): WebhookDeliveries.Attempt => ({
    at,
    url,
    address: null,
    request_headers: {},
    status: null,
    response_headers: {},
    response_body: null,
    duration_ms: 0,
    error,
    called: false,
  }))
