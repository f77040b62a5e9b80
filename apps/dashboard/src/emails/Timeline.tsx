import type { EventRecord } from "../api/Records.ts"
import { cx } from "../ui/display/cx.ts"
import { atClock, exactly } from "../ui/display/Time.tsx"
import { Foreign } from "../ui/display/UntrustedText.tsx"

const NAMES: Record<string, readonly [name: string, tone: string]> = {
  "email.queued": ["Queued", "bg-calm"],
  "email.sent": ["Handed over", "bg-accent"],
  "email.delivered": ["Delivered", "bg-good"],
  "email.delivery_delayed": ["Delayed", "bg-warn"],
  "email.bounced": ["Bounced", "bg-bad"],
  "email.complained": ["Complained", "bg-bad"],
  "email.failed": ["Failed", "bg-bad"],
  "email.suppressed": ["Suppressed", "bg-violet"],
  "email.canceled": ["Canceled", "bg-calm"],
  "email.opened": ["Opened", "bg-accent"],
  "email.clicked": ["Clicked", "bg-accent"],
  "email.attempt_lost": ["Attempt lost", "bg-warn"],
  "email.rescheduled": ["Rescheduled", "bg-accent"],
}

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)
const number = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined)

/** Who did it, where somebody did. */
const actorOf = ({ actor, type }: EventRecord): string | undefined => {
  if (actor.type === "system") return undefined
  const hands = { api_key: "by a key", user: "by a member", operator: "by an operator" }[actor.type]
  return type === "email.queued" || actor.type !== "api_key" ? hands : undefined
}

const factsOf = ({ data, type }: EventRecord): ReadonlyArray<string> => {
  const duration = number(data["duration_ms"])
  const attempt = number(data["attempt"])
  const [mx, tls, category, next, scheduled] = ["mx", "tls", "category", "next_attempt_at", "scheduled_at"].map(
    (name) => text(data[name]),
  )
  const ip = text(data["ip"])
  return [
    mx === undefined ? undefined : `from ${mx}`,
    tls,
    duration === undefined ? undefined : `${duration} ms`,
    attempt === undefined || attempt < 2 ? undefined : `attempt ${attempt}`,
    category?.replaceAll("_", " "),
    next === undefined ? undefined : `next attempt ${exactly(next)}`,
    scheduled === undefined ? undefined : `for ${exactly(scheduled)}`,
    type === "email.attempt_lost"
      ? "the worker died before the answer came; the next attempt is the same mail"
      : undefined,
    text(data["url"]),
    ip === undefined ? undefined : `from ${ip}`,
    text(data["user_agent"]),
    text(data["feedback_type"]),
  ].filter((each) => each !== undefined)
}

/** The stream itself: every fact about the message, with the other server’s words. */
export const Timeline = ({ events }: { readonly events: ReadonlyArray<EventRecord> }) => (
  <ol className="p-4">
    {events.map((event, nth) => (
      <Fact key={event.id} event={event} isLast={nth === events.length - 1} />
    ))}
  </ol>
)

const Fact = ({ event, isLast }: { readonly event: EventRecord; readonly isLast: boolean }) => {
  const [name, tone] = NAMES[event.type] ?? [event.type, "bg-calm"]
  const code = number(event.data["code"])
  const enhanced = text(event.data["enhanced_code"])
  const response = text(event.data["response"])
  const words = [code, enhanced, response].filter((each) => each !== undefined).join(" ")
  const facts = factsOf(event)
  const actor = actorOf(event)
  return (
    <li className={cx("relative pl-5", !isLast && "pb-5")} data-event={event.type}>
      {isLast ? undefined : (
        <span aria-hidden className="absolute top-3 bottom-[-0.25rem] left-[3.5px] w-px bg-line-strong" />
      )}
      <span aria-hidden className={cx("absolute top-1.5 left-0 size-2 rounded-full", tone)} />
      <p className="flex items-baseline gap-2 text-sm">
        <span className="font-medium">{name}</span>
        {actor === undefined ? undefined : <span className="text-xs text-ink-3">{actor}</span>}
        <time
          dateTime={event.occurred_at}
          title={exactly(event.occurred_at)}
          className="tabular ml-auto shrink-0 text-xs text-ink-3"
        >
          {atClock(event.occurred_at)}
        </time>
      </p>
      {text(event.data["recipient"]) === undefined ? undefined : (
        <p className="truncate text-xs text-ink-2">
          <Foreign text={text(event.data["recipient"]) ?? ""} />
        </p>
      )}
      {words === "" ? undefined : (
        <p className="mt-1.5 rounded-lg bg-sunken px-2.5 py-1.5 font-mono text-xs leading-relaxed break-words text-ink-2">
          <Foreign text={words} />
        </p>
      )}
      {facts.length === 0 ? undefined : (
        <p className="mt-1 text-xs break-words text-ink-3">
          <Foreign text={facts.join(" · ")} />
        </p>
      )}
    </li>
  )
}
