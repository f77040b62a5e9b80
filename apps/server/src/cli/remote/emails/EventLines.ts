import type { Event } from "@waybill/client/Waybill"
import * as HiddenCharacters from "@waybill/domain/values/HiddenCharacters"
import * as OutputStyle from "../../OutputStyle.ts"
import { UNITS } from "../../relativeTime.ts"
import * as TerminalTable from "../../TerminalTable.ts"

/** Facts of an event that a line shows, in this order. */
const SHOWN = ["recipient", "code", "enhanced_code", "response", "next_attempt_at", "url", "reason"]
const TYPE_WIDTH = 22
/** `TYPE_WIDTH` in a terminal, without `email.`. */
const NAME_WIDTH = "delivery_delayed".length

const factsOf = (event: Event): ReadonlyArray<string> => textsOf(event, SHOWN)

/** Returns the line of an event for a program. */
export const plain = (event: Event): string =>
  [event.occurred_at, event.type.padEnd(TYPE_WIDTH), event.stream_id, ...factsOf(event)].join("  ")

type Terminal = OutputStyle.Style & { readonly columns: number }

/** Returns the line of an event for a terminal, with the time of its day in UTC. */
export const line = (event: Event, style: Terminal): string =>
  lineOf([event.occurred_at.slice(11, 19), nameOf(event, style), event.stream_id], factsOf(event), style)

const nameOf = ({ type }: Event, style: Terminal): string => {
  const name = type.replace(/^email\./u, "")
  return OutputStyle.coloured(TerminalTable.pad(name, NAME_WIDTH), OutputStyle.colourOf(name), style)
}

// oxlint-disable-next-line no-control-regex
const COLOUR = /\u001b\[\d+m/gu

const lineOf = (first: ReadonlyArray<string>, facts: ReadonlyArray<string>, style: Terminal): string => {
  const begin = `${first.join("  ")}  `
  const room = Math.max(0, style.columns - begin.replaceAll(COLOUR, "").length)
  return (begin + TerminalTable.clip(facts.join("  "), room)).trimEnd()
}

/** Facts of an event that say what a server or a person did, which have a line of their own in a timeline. */
const ANSWER = ["code", "enhanced_code", "response", "reason", "url", "warnings"]
/** Times for which an email waits, with the words before them. */
const WAITS = [
  ["next attempt", "next_attempt_at"],
  ["scheduled for", "scheduled_at"],
] as const

/** Returns the time for which an email waits, with its day if that is another than the day of the event. */
const waitOf = (event: Event): ReadonlyArray<string> =>
  WAITS.flatMap(([words, name]) =>
    textsOf(event, [name]).map((time) => {
      const [day, clock = ""] = time.split("T")
      return `${words} ${event.occurred_at.startsWith(`${day}T`) ? "" : `${day} `}${clock.slice(0, 8)}`
    }),
  )

const textsOf = ({ data }: Event, names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.flatMap((name) =>
    [data[name]]
      .flat()
      .flatMap((value) =>
        typeof value === "string" || typeof value === "number" ? [HiddenCharacters.escape(String(value))] : [],
      ),
  )

/** Returns who caused an event: a key by its name and id, if the name is known. */
export const actorOf = ({ actor }: Event, keyNames: ReadonlyMap<string, string>): string => {
  const name = keyNames.get(actor.id ?? "")
  return name === undefined ? (actor.id ?? actor.type) : `${HiddenCharacters.escape(name)} (${actor.id})`
}

/** Returns everything that happened to an email: each event with the time since the one before, and what a server answered. */
export const timeline = (
  events: ReadonlyArray<Event>,
  keyNames: ReadonlyMap<string, string>,
  style: Terminal,
): ReadonlyArray<string> =>
  events.flatMap((event, nth) => {
    const before = events[nth - 1]
    const isLast = nth === events.length - 1
    const after = before === undefined ? "" : sinceText(Date.parse(event.occurred_at) - Date.parse(before.occurred_at))
    const day = event.occurred_at.slice(0, 10)
    const mark = OutputStyle.coloured("●", OutputStyle.colourOf(event.type), style)
    const head = day === before?.occurred_at.slice(0, 10) ? [] : [OutputStyle.coloured(`${day} UTC`, "dim", style)]
    const first = [`${mark} ${event.occurred_at.slice(11, 23)}`, after.padStart(8), nameOf(event, style)]
    const facts = [
      ...textsOf(event, ["recipient"]),
      ...(nth === 0 ? [`by ${actorOf(event, keyNames).replace(/ \(\S+\)$/u, "")}`] : []),
    ]
    const bar = isLast ? " " : OutputStyle.coloured("│", "dim", style)
    const answer = [textsOf(event, ANSWER).join(" "), ...waitOf(event)].filter((text) => text !== "")
    const below = answer.flatMap((text) => TerminalTable.folded(" ".repeat(INDENT) + text, style.columns).split("\n"))
    return [
      ...head,
      lineOf(first, facts, style),
      ...below.map((text) => `${bar}${text.slice(1)}`),
      ...(isLast || below.length > 0 ? [] : [bar]),
    ]
  })

/** Columns before what a server answered: those of the mark, the time and the time since. */
const INDENT = "● 10:31:02.123  +1.2 min  ".length

const sinceText = (millis: number): string => {
  const [unit, length] = UNITS.find(([, each]) => millis >= each) ?? ["ms", 1]
  return `+${unit === "ms" ? millis : (millis / length).toFixed(1)} ${unit}`
}
