import { Link } from "@tanstack/react-router"
import * as CauseTexts from "@waybill/domain/explanation/CauseTexts"
import * as ReplyCode from "@waybill/domain/search/ReplyCode"
import * as SearchText from "@waybill/domain/search/SearchText"
import type { EventRecord } from "../api/Records.ts"
import { cx } from "../ui/display/cx.ts"
import { eventName } from "../ui/display/eventName.ts"
import { formatClock, formatDateTime, formatWithZone } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { useKeyNames, useMemberNames } from "../session/Names.ts"

const COLORS: Record<string, string> = {
  "email.sent": "bg-accent",
  "email.delivered": "bg-good",
  "email.delivery_delayed": "bg-warn",
  "email.bounced": "bg-bad",
  "email.complained": "bg-bad",
  "email.failed": "bg-bad",
  "email.suppressed": "bg-violet",
  "email.opened": "bg-accent",
  "email.clicked": "bg-accent",
  "email.attempt_lost": "bg-warn",
  "email.rescheduled": "bg-accent",
  "email.resent": "bg-accent",
}

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)
const number = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined)

/** Events that a caller of the API makes; later ones, such as the delivery, carry the same actor as the first. */
const OF_CALLERS: ReadonlySet<string> = new Set(["email.queued", "email.canceled", "email.rescheduled", "email.resent"])

/** Returns a function that names who made an event, except for the service itself. */
export const useActorOf = () => {
  const [keys, members] = [useKeyNames(), useMemberNames()]
  return ({ actor, type }: EventRecord): string | undefined => {
    if (actor.type === "system" || !OF_CALLERS.has(type)) return undefined
    const [kind, name] =
      actor.type === "operator"
        ? (["Operator", undefined] as const)
        : actor.type === "api_key"
          ? (["API key", keys.get(actor.id ?? "")] as const)
          : (["User", members.get(actor.id ?? "")] as const)
    return name === undefined ? kind : `${kind}: ${name}`
  }
}

const notesOf = ({ data, type }: EventRecord): ReadonlyArray<string> => {
  const duration = number(data["duration_ms"])
  const attempt = number(data["attempt"])
  const [mx, tls, next, scheduled] = ["mx", "tls", "next_attempt_at", "scheduled_at"].map((name) => text(data[name]))
  const isSandbox = mx === "capture"
  const ip = text(data["ip"])
  const warnings = Array.isArray(data["warnings"]) ? data["warnings"].map(text) : []
  return [
    ...warnings,
    mx === undefined || isSandbox ? undefined : `via ${mx}`,
    tls,
    duration === undefined || isSandbox ? undefined : `${duration} ms`,
    attempt === undefined || attempt < 2 ? undefined : `attempt ${attempt}`,
    next === undefined ? undefined : `Next attempt ${formatDateTime(next)}`,
    scheduled === undefined ? undefined : `scheduled for ${formatWithZone(scheduled)}`,
    type === "email.attempt_lost"
      ? "The worker stopped before the server replied. The email is sent again with the same Message-ID."
      : undefined,
    text(data["url"]),
    ip === undefined ? undefined : `from ${ip}`,
    text(data["user_agent"]),
    text(data["feedback_type"]),
    text(data["would_suppress"]) === undefined
      ? undefined
      : "Simulated: a real one would have suppressed the recipient",
  ].filter((each) => each !== undefined)
}

/** All events of an email with the replies of the receiving server. */
export const Timeline = ({ events }: { readonly events: ReadonlyArray<EventRecord> }) => {
  const actorOf = useActorOf()
  return (
    <ol className="p-4">
      {events.map((event, index) => (
        <TimelineEvent key={event.id} event={event} actor={actorOf(event)} isLast={index === events.length - 1} />
      ))}
    </ol>
  )
}

interface Props {
  readonly event: EventRecord
  readonly actor: string | undefined
  readonly isLast: boolean
}

const TimelineEvent = ({ actor, event, isLast }: Props) => {
  const color = COLORS[event.type] ?? "bg-neutral"
  const code = number(event.data["code"])
  const enhanced = text(event.data["enhanced_code"])
  const response = text(event.data["response"])
  const isRefusal = code !== undefined && ReplyCode.isCode(String(code))
  const reply = [isRefusal ? undefined : code, enhanced, response].filter((each) => each !== undefined).join(" ")
  const category = text(event.data["category"])
  const notes = notesOf(event)
  return (
    <li className={cx("relative pl-5", !isLast && "pb-5")} data-event={event.type}>
      {isLast ? undefined : (
        <span aria-hidden className="absolute top-3 bottom-[-0.25rem] left-[3.5px] w-px bg-line-strong" />
      )}
      <span aria-hidden className={cx("absolute top-1.5 left-0 size-2 rounded-full", color)} />
      <p className="flex items-baseline gap-2 text-sm">
        <span className="font-medium">{eventName(event.type)}</span>
        {actor === undefined ? undefined : (
          <UntrustedText className="min-w-0 text-xs [overflow-wrap:anywhere] text-ink-3" text={actor} />
        )}
        <time
          dateTime={event.occurred_at}
          title={formatDateTime(event.occurred_at)}
          className="tabular ml-auto shrink-0 text-xs text-ink-3"
        >
          {formatClock(event.occurred_at)}
        </time>
      </p>
      {text(event.data["recipient"]) === undefined ? undefined : (
        <UntrustedText as="p" className="truncate text-xs text-ink-2" text={text(event.data["recipient"]) ?? ""} />
      )}
      {reply === "" && !isRefusal ? undefined : (
        <p className="mt-1.5 rounded-lg bg-sunken px-2.5 py-1.5 font-mono text-xs leading-relaxed break-words text-ink-2">
          {isRefusal ? (
            <>
              <Link
                to="/emails"
                search={{ search: SearchText.write("code", String(code)) }}
                title={`Emails refused with ${code}`}
                className="link"
              >
                {code}
              </Link>{" "}
            </>
          ) : undefined}
          <UntrustedText text={reply} />
        </p>
      )}
      <OtherEmail label="Copy:" id={text(event.data["copy_id"])} />
      <OtherEmail label="Copy of" id={text(event.data["resend_of"])} />
      {category === undefined ? undefined : (
        <p className="mt-1 text-xs break-words text-ink-2">
          {CauseTexts.of(category).meaning} <code className="font-mono text-ink-3">{category}</code>
        </p>
      )}
      {notes.length === 0 ? undefined : (
        <UntrustedText as="p" className="mt-1 text-xs break-words text-ink-3" text={notes.join(" · ")} />
      )}
    </li>
  )
}

/** Link to the copy of an email, or to the email that it is a copy of. */
const OtherEmail = ({ id, label }: { readonly label: string; readonly id: string | undefined }) =>
  id === undefined ? undefined : (
    <p className="text-xs text-ink-2">
      {label}{" "}
      <Link to="/emails/$id" params={{ id }} className="font-mono break-all link">
        {id}
      </Link>
    </p>
  )
