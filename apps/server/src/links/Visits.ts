import * as Email from "@waybill/domain/email/Email"
import { NothingNew } from "@waybill/domain/values/Refusal"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import type { Mail } from "@waybill/mail/tokens/TrackingToken"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Mask from "@waybill/store/erasure/Mask"
import * as RateWindows from "@waybill/store/admission/RateWindows"
import { Cause, Context, Duration, Effect, Exit, Fiber, Layer, Metric, Queue, Result } from "effect"
import * as Stop from "../boot/Stop.ts"

/** Visits of one process that wait to be written down; beyond it they are counted as lost. */
export const MAX_VISITS_WAITING = 4_000
/** Of those, at one moment on their way into the log, where they share their flights with all else. */
export const VISITS_AT_ONCE = 16
/**
 * Of one address, an IPv6 /64 being one, that a process writes down. High, for the proxies of large providers open the
 * mail of all their users from few addresses; whoever goes on is led on all the same.
 */
export const MAX_VISITS_PER_MINUTE = 2_000
/** Addresses told apart within a minute; beyond it they are counted together. */
export const MAX_VISITORS = 20_000
/** Mails known to take no more visits; beyond it the oldest is looked at anew, which costs its whole history. */
export const MAX_CLOSED = 10_000
/** Till when a stop waits for what was seen to be written down; requests have been answered before. */
export const STOP_WITHIN = Duration.seconds(27)

/** Somebody, or a program, has looked at a mail, or followed a link in it. */
export interface Visit {
  readonly mail: Mail
  /** `null` for an opening. */
  readonly url: string | null
  readonly user_agent: string | null
  readonly ip: string
  readonly at: Timestamp.Timestamp
}

/** What becomes of opens and clicks: written down behind the answer, which they never hold up. */
export class Visits extends Context.Service<
  Visits,
  {
    /** Never waits and never fails: what is too much is counted and forgotten. */
    readonly note: (visit: Visit) => void
  }
>()("@waybill/server/Visits") {}

export const layer = Layer.effect(
  Visits,
  Effect.gen(function* () {
    const waiting = yield* Queue.dropping<Visit, Cause.Done>(MAX_VISITS_WAITING)
    const closed = makeClosed()
    const lose = yield* makeLosses
    const writers = Array.from({ length: VISITS_AT_ONCE }, () => writing(waiting, closed, lose))
    const fiber = yield* Effect.forkDetach(Effect.all(writers, { concurrency: "unbounded", discard: true }))
    const stop = yield* Stop.Stop
    yield* Effect.addFinalizer(() =>
      Effect.gen(function* () {
        yield* Queue.end(waiting)
        yield* Effect.timeoutOption(Fiber.await(fiber), yield* Stop.left(yield* stop.began, STOP_WITHIN))
        yield* Fiber.interrupt(fiber)
      }),
    )
    const windows = makeWindows()
    return {
      note: (visit) => {
        if (!windows.admit(visit)) count(visit, "limited")
        else if (!Queue.offerUnsafe(waiting, visit)) count(visit, "lost")
      },
    }
  }),
)

/** One after the other, till there will be no more. */
const writing = (waiting: Queue.Queue<Visit, Cause.Done>, closed: Closed, lose: Losses) =>
  Queue.take(waiting).pipe(
    Effect.flatMap((visit) =>
      Effect.flatMap(Effect.exit(closed.has(visit) ? Effect.succeed(false) : write(visit)), (exit) => {
        count(visit, Exit.isFailure(exit) ? "lost" : exit.value ? "recorded" : "ignored")
        if (Exit.isSuccess(exit) && !exit.value) closed.add(visit)
        return Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause) ? lose(exit.cause) : Effect.void
      }),
    ),
    Effect.forever,
    Effect.catch(() => Effect.void),
  )

/** Whether it is a fact now: the mail may be gone, or has been looked at often enough. */
const write = Effect.fn("Visits.write")(function* ({ at, ip, mail, url, user_agent }: Visit) {
  const store = yield* EventStore
  const ref = { account_id: mail.account_id, stream_id: mail.email_id }
  const visitor = { user_agent, ip }
  const decide = url === null ? Email.recordOpened(at, visitor) : Email.recordClicked(at, url, visitor)
  return yield* store
    .commit(Email, ref, (message) => (isErased(message) ? Result.fail(new NothingNew()) : decide(message)))
    .pipe(
      Effect.as(true),
      Effect.catchTags({
        NothingNew: () => Effect.succeed(false),
        EmailNotFound: () => Effect.succeed(false),
      }),
    )
})

/** Whoever asked to be forgotten still has the mail, and is not written down anew when they look at it. */
const isErased = (message: Email.State): boolean =>
  message._tag === "Message" && message.recipients.every(({ address }) => Mask.isStandIn(address))

interface Closed {
  readonly has: (visit: Visit) => boolean
  readonly add: (visit: Visit) => void
}

/**
 * What is gone, forgotten, or was looked at often enough stays so: whoever goes on looking at it is not asked for a
 * history of thousands each time.
 */
const makeClosed = (): Closed => {
  const known = new Set<string>()
  const nameOf = ({ mail, url }: Visit) => `${url === null ? "open" : "click"} ${mail.account_id} ${mail.email_id}`
  return {
    has: (visit) => known.has(nameOf(visit)),
    add: (visit) => {
      const [oldest] = known
      if (known.size >= MAX_CLOSED && oldest !== undefined) known.delete(oldest)
      known.add(nameOf(visit))
    },
  }
}

/** How often it is said how many were lost, while there are any. */
export const SAY_LOST_EVERY = Duration.minutes(1)

type Losses = (cause: Cause.Cause<unknown>) => Effect.Effect<void>

/** While the database is away each visit is lost for the same reason: it is told of the first, and then of their number. */
const makeLosses = Effect.gen(function* () {
  let lost = 0
  let isSaying = false
  const scope = yield* Effect.scope
  const sayHowMany = Effect.suspend(() => {
    const since = lost
    lost = 0
    const said = Effect.logWarning("opens and clicks that could not be written down are lost", { lost: since })
    return Effect.as(since === 0 ? Effect.void : said, since > 0)
  })
  const saying = Effect.andThen(Effect.sleep(SAY_LOST_EVERY), sayHowMany).pipe(
    Effect.repeat({ while: (goesOn) => goesOn }),
    Effect.ensuring(Effect.sync(() => (isSaying = false))),
  )
  yield* Effect.addFinalizer(() => sayHowMany)
  return (cause: Cause.Cause<unknown>) =>
    Effect.suspend(() => {
      lost++
      if (isSaying) return Effect.void
      isSaying = true
      return Effect.andThen(
        Effect.logWarning("opens and clicks cannot be written down", cause),
        Effect.forkIn(saying, scope),
      )
    })
})

interface Windows {
  readonly admit: (visit: Visit) => boolean
}

/** Fixed windows of a minute, in memory: the way on must not need a database, nor wait for one. */
const makeWindows = (): Windows => {
  let minute = ""
  const seen = new Map<string, number>()
  return {
    admit: ({ at, ip }) => {
      const now = at.slice(0, "2026-11-21T09:00".length)
      if (now !== minute) {
        minute = now
        seen.clear()
      }
      const { bucket } = RateWindows.clientAddress(ip)
      const name = seen.has(bucket) || seen.size < MAX_VISITORS ? bucket : "others"
      const visits = (seen.get(name) ?? 0) + 1
      seen.set(name, visits)
      return visits <= MAX_VISITS_PER_MINUTE
    },
  }
}

const NOWHERE = Context.empty()

const visits = Metric.counter("waybill_visits_total", {
  description: "Opens and clicks that were seen, by what became of them",
  incremental: true,
})
type Outcome = "recorded" | "ignored" | "limited" | "lost"
const OUTCOMES: ReadonlyArray<Outcome> = ["recorded", "ignored", "limited", "lost"]
const KINDS = ["open", "click"]
/** At nought before the first: an increase is seen only of what was there before. */
const series = new Map(
  KINDS.flatMap((kind) =>
    OUTCOMES.map((outcome) => [`${kind} ${outcome}`, Metric.withAttributes(visits, { kind, outcome })] as const),
  ),
)
for (const one of series.values()) one.valueUnsafe(NOWHERE)

const count = ({ url }: Visit, outcome: Outcome): void =>
  series.get(`${url === null ? "open" : "click"} ${outcome}`)?.updateUnsafe(1, NOWHERE)
