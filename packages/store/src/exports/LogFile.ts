import { Data } from "effect"
import { createHash } from "node:crypto"
import type { Stored } from "../log/RecordedEvents.ts"

/** The file is not a valid log; the message names the line. */
export class LogFileRefused extends Data.TaggedError("LogFileRefused")<{ readonly message: string }> {}

/** An event as in a line of a file. The position is a JSON number, exact up to 2^53. */
export type Entry = Omit<Stored, "position"> & { readonly position: number }

export const entryOf = ({ data, meta, position, recorded_at, ...fields }: Stored): Entry => ({
  position: Number(position),
  event_id: fields.event_id,
  account_id: fields.account_id,
  stream: fields.stream,
  stream_id: fields.stream_id,
  version: fields.version,
  type: fields.type,
  data,
  meta,
  recorded_at,
})

const FORMAT = 1
export const HEADER = JSON.stringify({ waybill_events: FORMAT })

interface End {
  readonly events: number
  readonly position: number
}
type Line = { readonly event: Entry; readonly hash: string } | { readonly end: End; readonly hash: string }

const sha256 = (...parts: ReadonlyArray<string>): string => {
  const digest = createHash("sha256")
  for (const part of parts) digest.update(part)
  return digest.digest("hex")
}

/**
 * Writes and checks a log as lines of JSON: a header, one line per event in the order of positions, and an end that
 * counts them. Each line's hash covers the hash before it and the line's content, so a changed, missing, repeated or
 * moved line breaks the chain; a missing end shows that the file is incomplete.
 */
export class Chain {
  events = 0
  position = 0
  isEnded = false
  #hash = sha256(HEADER)
  #lines = 0

  /** Returns the next line to write. */
  line(event: Entry): string {
    return this.#sealed("event", event, () => this.#count(event))
  }

  end(): string {
    return this.#sealed("end", { events: this.events, position: this.position }, () => (this.isEnded = true))
  }

  #sealed(kind: "event" | "end", content: unknown, then: () => void): string {
    const text = JSON.stringify(content)
    this.#hash = sha256(this.#hash, text)
    then()
    return `{"${kind}":${text},"hash":"${this.#hash}"}\n`
  }

  #count(event: Entry): void {
    this.events++
    this.position = event.position
  }

  /** Checks the next line read. Returns its event; undefined for the header and the end. */
  take(text: string): Entry | undefined {
    const nth = ++this.#lines
    if (nth === 1) {
      if (text !== HEADER) throw new LogFileRefused({ message: "line 1: this is not an exported log" })
      return undefined
    }
    if (this.isEnded) throw new LogFileRefused({ message: `line ${nth}: the file continues after its end` })
    const line = parse(text, nth)
    const content = "event" in line ? line.event : line.end
    const hash = sha256(this.#hash, JSON.stringify(content))
    if (hash !== line.hash)
      throw new LogFileRefused({ message: `line ${nth}: the hash does not follow from the line before` })
    this.#hash = hash
    if ("event" in line) {
      if (!Number.isSafeInteger(line.event.position) || line.event.position <= this.position)
        throw new LogFileRefused({
          message: `line ${nth}: position ${line.event.position} comes after ${this.position}; positions must increase`,
        })
      this.#count(line.event)
      return line.event
    }
    if (line.end.events !== this.events || line.end.position !== this.position)
      throw new LogFileRefused({
        message: `line ${nth}: the end states ${line.end.events} events, but the file has ${this.events}`,
      })
    this.isEnded = true
    return undefined
  }
}

const parse = (text: string, nth: number): Line => {
  try {
    const line = JSON.parse(text) as Line
    if (typeof line === "object" && line !== null && ("event" in line || "end" in line)) return line
  } catch {
    // Reported below, like all other invalid lines.
  }
  throw new LogFileRefused({ message: `line ${nth}: this is not a valid line` })
}
