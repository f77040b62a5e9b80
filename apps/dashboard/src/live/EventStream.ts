import * as Api from "../api/Api.ts"
import * as Connection from "../api/Connection.ts"
import * as Mode from "../api/Mode.ts"
import type { EventRecord } from "../api/Records.ts"
import { serverSentEvents } from "./serverSentEvents.ts"

/** Types that any screen follows. All screens of a tab share one stream of them, because each stream is a request. */
export const TYPES = [
  "email.queued",
  "email.sent",
  "email.delivered",
  "email.delivery_delayed",
  "email.bounced",
  "email.complained",
  "email.failed",
  "email.suppressed",
  "email.canceled",
  "email.rescheduled",
  "email.resent",
  "email.received",
] as const
export type Type = (typeof TYPES)[number]

/** First pause before reconnecting after an error; doubled at each further error. */
const PAUSE_MS = 2_000
const LONGEST_PAUSE_MS = 30_000
/** Time for which the stream stays open without a screen that follows it, as between two screens. */
const LINGER_MS = 60_000
/**
 * Events of this time are handed over to a screen that joins, because it may show data from before them. As long as the
 * longest time for which a screen takes data from the cache.
 */
const RECENT_MS = 60_000
/** Recent events that are kept. If there were more, a screen that joins reads its data again instead. */
const MAX_RECENT = 1_000

/** `reconnecting`: the stream broke, and what happened since is not shown yet. */
export type State = "connecting" | "live" | "reconnecting" | "off"

export interface Follower {
  readonly types: ReadonlySet<string>
  readonly onEvent: (event: EventRecord) => void
  /** Called when events may be missing: the data must be read again. */
  readonly onStart: () => void
  readonly onState: (state: State) => void
}

interface Received {
  readonly at: number
  readonly event: EventRecord
}

const followers = new Set<Follower>()
let state: State = "off"
let recent: Array<Received> = []
let isRecentComplete = true
let running: AbortController | undefined
let linger: ReturnType<typeof setTimeout> | undefined

const setState = (next: State): void => {
  state = next
  for (const { onState } of followers) onState(next)
}

/** Follows the events of the account until the returned function is called. */
export const join = (follower: Follower): (() => void) => {
  clearTimeout(linger)
  followers.add(follower)
  if (running === undefined) start()
  else handOver(follower)
  follower.onState(state)
  return () => {
    followers.delete(follower)
    if (followers.size === 0) linger = setTimeout(stop, LINGER_MS)
  }
}

const handOver = (follower: Follower): void => {
  if (!isRecentComplete) return follower.onStart()
  const since = performance.now() - RECENT_MS
  for (const { at, event } of recent) if (at >= since && follower.types.has(event.type)) follower.onEvent(event)
}

const start = (): void => {
  running = new AbortController()
  void follow(running.signal)
}

/** Ends the stream and forgets its events, as when the user signs out. */
export const stop = (): void => {
  running?.abort()
  running = undefined
  recent = []
  isRecentComplete = true
  state = "off"
}

// The other mode has other events.
Mode.watch(() => {
  if (running === undefined) return
  stop()
  if (followers.size > 0) start()
})

const receive = (event: EventRecord): void => {
  const now = performance.now()
  recent.push({ at: now, event })
  if (recent.length > MAX_RECENT) {
    recent = recent.filter(({ at }) => at >= now - RECENT_MS)
    isRecentComplete = recent.length <= MAX_RECENT
    recent = recent.slice(-MAX_RECENT)
  }
  for (const { onEvent, types } of followers) if (types.has(event.type)) onEvent(event)
}

const follow = async (signal: AbortSignal): Promise<void> => {
  let lastId: string | undefined
  let pause = PAUSE_MS
  setState("connecting")
  while (!signal.aborted) {
    const attempt = new AbortController()
    const end = () => attempt.abort()
    signal.addEventListener("abort", end)
    // A connection may not notice for minutes that its network is gone.
    window.addEventListener("offline", end)
    try {
      const response = await fetch(
        `/v1${Mode.withMode(`/events/stream?types=${encodeURIComponent(TYPES.join(","))}`)}`,
        {
          headers: { ...Api.DASHBOARD_HEADERS, ...(lastId === undefined ? {} : { "last-event-id": lastId }) },
          signal: attempt.signal,
        },
      )
      // Without permission for the stream the caller polls instead. The next screen tries again.
      if (response.status === 401 || response.status === 403) {
        stop()
        return setState("off")
      }
      if (!response.ok || response.body === null) throw new Error("no stream")
      setState("live")
      pause = PAUSE_MS
      if (lastId === undefined) for (const { onStart } of followers) onStart()
      for await (const message of serverSentEvents(response.body)) {
        if (signal.aborted) return
        if (message.id !== "") lastId = message.id
        if (message.event === "message") receive(JSON.parse(message.data) as EventRecord)
      }
      // The server ends each stream after some minutes; the loop reconnects at once.
    } catch {
      if (signal.aborted) return
      setState("reconnecting")
      await Promise.race([Connection.untilOnline(), new Promise((resolve) => setTimeout(resolve, pause))])
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
    } finally {
      signal.removeEventListener("abort", end)
      window.removeEventListener("offline", end)
    }
  }
}
