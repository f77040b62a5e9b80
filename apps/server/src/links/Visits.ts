import * as Email from "@waybill/domain/email/Email"
import * as EmailReport from "@waybill/domain/email/EmailReport"
import * as Livemode from "@waybill/domain/account/Livemode"
import { NothingNew } from "@waybill/domain/values/Refusal"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import type { OwnedMail } from "@waybill/mail/tokens/MailToken"
import * as Databases from "@waybill/store/routing/Databases"
import * as PerDatabase from "@waybill/store/routing/PerDatabase"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Mask from "@waybill/store/erasure/Mask"
import * as RateWindows from "@waybill/store/admission/RateWindows"
import { Cause, Context, Duration, Effect, Exit, FiberSet, Layer, Metric, Result, Scope, Semaphore } from "effect"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import * as Stop from "../process/Stop.ts"

/** Visits of one process that wait to be recorded; further ones are dropped and counted as lost. */
export const MAX_VISITS_WAITING = 4_000
/** Visits of a database that are committed concurrently; they share commit batches with other work. */
export const VISITS_AT_ONCE = 16
/**
 * Visits recorded per process, minute and client address (an IPv6 /64 counts as one). The limit is high because large
 * mail providers fetch for all their users from few addresses. Visitors beyond it are still redirected.
 */
export const MAX_VISITS_PER_MINUTE = 2_000
/** Addresses counted separately within a minute; further ones share one counter. */
export const MAX_VISITORS = 20_000
/** Closed emails remembered by a process. A forgotten one costs a read of its whole history at the next visit. */
export const MAX_CLOSED_EMAILS = 10_000
/** Time after the begin of a stop until which queued visits are still recorded. Requests are finished before that. */
export const STOP_WITHIN = Duration.seconds(27)

/** An open of an email, or a click on one of its links, by a person or a program. */
export interface Visit {
  readonly mail: OwnedMail
  /** `null` for an open. */
  readonly url: string | null
  readonly user_agent: string | null
  /** `null` if a provider that reports the visit does not say. */
  readonly ip: string | null
  readonly at: Timestamp.Timestamp
}

/** Records opens and clicks in the background, so that the response to the visitor never waits for it. */
export class Visits extends Context.Service<
  Visits,
  {
    /** Queues a visit. Never waits and never fails; a visit beyond the limits is counted and dropped. */
    readonly note: (visit: Visit) => void
  }
>()("@waybill/server/links/Visits") {}

export const layer = Layer.effect(
  Visits,
  Effect.gen(function* () {
    const closed = makeClosedEmails()
    const reportLost = yield* makeLossReporter
    // In a scope of their own, which is open while a stop waits for visits, some of databases that had none before.
    const places = yield* Scope.provide(
      PerDatabase.make(Effect.sync((): Places => ({ turns: Semaphore.makeUnsafe(VISITS_AT_ONCE), waiting: 0 }))),
      yield* Scope.fork(yield* Effect.scope),
    )
    const fibers = yield* FiberSet.make<void>()
    const run = yield* FiberSet.runtime(fibers)<EventStore>()
    const stop = yield* Stop.Stop
    let isStopped = false
    yield* Effect.addFinalizer(() =>
      Effect.gen(function* () {
        isStopped = true
        yield* Effect.timeoutOption(
          Effect.interruptible(FiberSet.awaitEmpty(fibers)),
          yield* Stop.left(yield* stop.began, STOP_WITHIN),
        )
      }),
    )
    /** Records a visit in its turn. A database that hangs has no more than half of the places, so that others keep some. */
    const recordInTurn = Effect.fnUntraced(function* (visit: Visit) {
      const here = yield* places.of(visit.mail.account_id)
      const most = (yield* Databases.areSeveral) ? MAX_VISITS_WAITING / 2 : MAX_VISITS_WAITING
      if (here.waiting >= most) return "lost"
      here.waiting++
      return yield* here.turns
        .withPermit(Effect.suspend(() => (closed.has(visit) ? Effect.succeed(false) : record(visit))))
        .pipe(
          Effect.ensuring(Effect.sync(() => void here.waiting--)),
          Effect.map((isRecorded) => (isRecorded ? "recorded" : "ignored")),
        )
    })
    const finish = (visit: Visit, exit: Exit.Exit<"lost" | "recorded" | "ignored", StoreUnavailable>) => {
      count(visit, Exit.isSuccess(exit) ? exit.value : "lost")
      if (Exit.isSuccess(exit) && exit.value === "ignored") closed.add(visit)
      return Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause) ? reportLost(exit.cause) : Effect.void
    }
    const windows = makeWindows()
    let waiting = 0
    return {
      note: (visit) => {
        if (!windows.admit(visit)) return count(visit, "limited")
        if (isStopped || waiting >= MAX_VISITS_WAITING) return count(visit, "lost")
        waiting++
        run(
          recordInTurn(visit).pipe(
            Effect.exit,
            Effect.flatMap((exit) => finish(visit, exit)),
            Effect.ensuring(Effect.sync(() => void waiting--)),
          ),
        )
      },
    }
  }),
)

/** The visits of a database. */
interface Places {
  readonly turns: Semaphore.Semaphore
  waiting: number
}

/** Returns whether the visit was recorded; it is not if the email is gone or has reached its limit of events. */
const record = Effect.fn("Visits.record")(function* ({ at, ip, mail, url, user_agent }: Visit) {
  const store = yield* EventStore
  const ref = { account_id: mail.account_id, stream_id: mail.email_id }
  const visitor = { user_agent, ip }
  const decide = (shown: Timestamp.Timestamp) =>
    url === null ? EmailReport.recordOpened(shown, visitor) : EmailReport.recordClicked(shown, url, visitor)
  return yield* store
    .transact({
      account_id: ref.account_id,
      streams: [{ aggregate: Email, id: ref.stream_id }],
      needs: Livemode.isLive(ref.account_id) ? {} : { clocksOf: [ref.stream_id] },
      decide: (view) => {
        const message = view.state<Email.State>(Email, ref.stream_id)
        if (isErased(message)) return Result.fail(new NothingNew())
        const clock = message._tag === "Message" ? message.accepted.test_clock : undefined
        const shown = clock === undefined ? at : (view.facts.clock(ref.account_id, clock)?.now ?? at)
        return Result.map(decide(shown)(message), (events) => ({
          append: [{ aggregate: Email, id: ref.stream_id, events }],
          answer: undefined,
        }))
      },
    })
    .pipe(
      Effect.as(true),
      Effect.catchTags({
        NothingNew: () => Effect.succeed(false),
        EmailNotFound: () => Effect.succeed(false),
      }),
    )
})

/** True when all recipients of the email were erased. Visits by a person whose data was erased are not recorded. */
const isErased = (message: Email.State): boolean =>
  message._tag === "Message" && message.recipients.every(({ address }) => Mask.isReplacement(address))

interface ClosedEmails {
  readonly has: (visit: Visit) => boolean
  readonly add: (visit: Visit) => void
}

/**
 * Remembers emails that accept no more visits, so that repeated visits do not read a history of thousands of events.
 */
const makeClosedEmails = (): ClosedEmails => {
  const closed = new Set<string>()
  const nameOf = ({ mail, url }: Visit) => `${url === null ? "open" : "click"} ${mail.account_id} ${mail.email_id}`
  return {
    has: (visit) => closed.has(nameOf(visit)),
    add: (visit) => {
      const [oldest] = closed
      if (closed.size >= MAX_CLOSED_EMAILS && oldest !== undefined) closed.delete(oldest)
      closed.add(nameOf(visit))
    },
  }
}

/** Interval of the warning that reports the number of lost visits. */
export const REPORT_LOST_EVERY = Duration.minutes(1)

/**
 * Logs the first lost visit with its cause, then only a count per interval, because an unavailable database fails all
 * of them for the same reason.
 */
const makeLossReporter = Effect.gen(function* () {
  let lost = 0
  let isReporting = false
  const scope = yield* Effect.scope
  const reportCount = Effect.suspend(() => {
    const count = lost
    lost = 0
    const report = Effect.logWarning("opens and clicks were lost because they could not be recorded", { lost: count })
    return Effect.as(count === 0 ? Effect.void : report, count > 0)
  })
  const reporting = Effect.andThen(Effect.sleep(REPORT_LOST_EVERY), reportCount).pipe(
    Effect.repeat({ while: (wasLost) => wasLost }),
    Effect.ensuring(Effect.sync(() => (isReporting = false))),
  )
  yield* Effect.addFinalizer(() => reportCount)
  return (cause: Cause.Cause<unknown>) =>
    Effect.suspend(() => {
      lost++
      if (isReporting) return Effect.void
      isReporting = true
      return Effect.andThen(
        Effect.logWarning("opens and clicks cannot be recorded and are lost", cause),
        Effect.forkIn(reporting, scope),
      )
    })
})

interface Windows {
  readonly admit: (visit: Visit) => boolean
}

/** Counts visits in fixed windows of a minute, in memory, because a redirect must not depend on the database. */
const makeWindows = (): Windows => {
  let minute = ""
  const counts = new Map<string, number>()
  return {
    admit: ({ at, ip }) => {
      const current = at.slice(0, "2026-11-21T09:00".length)
      if (current !== minute) {
        minute = current
        counts.clear()
      }
      const { bucket } = RateWindows.clientAddress(ip ?? UNKNOWN_IP)
      const name = counts.has(bucket) || counts.size < MAX_VISITORS ? bucket : "others"
      const visits = (counts.get(name) ?? 0) + 1
      counts.set(name, visits)
      return visits <= MAX_VISITS_PER_MINUTE
    },
  }
}

/** Stands for visitors whose address is not known. */
const UNKNOWN_IP = "0.0.0.0"

const NO_SERVICES = Context.empty()

const visits = Metric.counter("waybill_visits_total", {
  description: "Opens and clicks by outcome",
  incremental: true,
})
type Outcome = "recorded" | "ignored" | "limited" | "lost"
const OUTCOMES: ReadonlyArray<Outcome> = ["recorded", "ignored", "limited", "lost"]
const KINDS = ["open", "click"]
/** Initializes every series at zero, because Prometheus computes an increase only from an existing value. */
const series = new Map(
  KINDS.flatMap((kind) =>
    OUTCOMES.map((outcome) => [`${kind} ${outcome}`, Metric.withAttributes(visits, { kind, outcome })] as const),
  ),
)
for (const counter of series.values()) counter.valueUnsafe(NO_SERVICES)

const count = ({ url }: Visit, outcome: Outcome): void =>
  series.get(`${url === null ? "open" : "click"} ${outcome}`)?.updateUnsafe(1, NO_SERVICES)
