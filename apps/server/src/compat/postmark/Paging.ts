import * as Page from "@waybill/api/schemas/Page"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Turn from "@waybill/runtime/flow/Turn"
import { DateTime, Effect, Option } from "effect"
import * as Native from "../Native.ts"

/** Maximum sum of `count` and `offset`, and of messages that one request reads: Postmark's lists begin at an offset, ours at an id. */
export const MAX_REACH = 1_000
/** Maximum number of pages of our own list that one request reads. Pages of large messages are shorter than others. */
export const MAX_PAGES = 20
/** Maximum number of entries in an answer, as in Postmark. */
export const MAX_COUNT = 500
/** Maximum length of the entries of an answer. Postmark's lists have no cursor, so that a part of them cannot be answered. */
export const MAX_ANSWER_CHARS = 4 * 1024 * 1024
/** Length of entries after which other requests have their turn. */
const TURN_CHARS = 256 * 1024
/** Number of entries that Postmark's clients ask for if their user does not say. */
const DEFAULT_COUNT = 100

interface Range {
  readonly count: number
  readonly offset: number
}

export const rangeOf = Effect.fnUntraced(function* (query: URLSearchParams) {
  const count = numberOf(query.get("count"), DEFAULT_COUNT)
  const offset = numberOf(query.get("offset"), 0)
  if (!(count >= 1 && count <= MAX_COUNT))
    return yield* Native.refuse("count", `must be a whole number from 1 to ${MAX_COUNT}`)
  if (!(offset >= 0 && count + offset <= MAX_REACH))
    return yield* Native.refuse(
      "offset",
      `must be a whole number, and with \`count\` at most ${MAX_REACH}; reach older entries with \`todate\``,
    )
  return { count, offset } satisfies Range
})

const numberOf = (text: string | null, absent: number): number =>
  text === null ? absent : /^\d{1,9}$/u.test(text) ? Number(text) : Number.NaN

/**
 * Reads our own list, newest first, until a range of the entries that `pick` makes of its rows is complete, and shows those.
 * The total is one more than what was reached while the list goes on, because our lists are not counted.
 */
export const read = Effect.fnUntraced(function* <Row, Entry, Shown>(
  path: string,
  filters: URLSearchParams,
  { count, offset }: Range,
  pick: (row: Row) => ReadonlyArray<Entry>,
  show: (entry: Entry) => Shown,
) {
  const end = offset + count
  const entries: Array<Shown> = []
  let [reached, rows, chars, sinceTurn] = [0, 0, 0, 0]
  const query = new URLSearchParams(filters)
  query.set("limit", String(Page.MAX_LIMIT))
  for (let page = 0; page < MAX_PAGES && rows < MAX_REACH; page++) {
    const { data, next_cursor } = yield* Native.get<Native.List<Row>>(`${path}?${query}`)
    yield* Turn.next
    rows += data.length
    for (const entry of data.flatMap(pick)) {
      if (reached++ < offset || reached > end) continue
      const shown = show(entry)
      const length = JSON.stringify(shown).length
      entries.push(shown)
      chars += length
      sinceTurn += length
      if (chars > MAX_ANSWER_CHARS) return yield* tooLarge(entries.length)
      if (sinceTurn < TURN_CHARS) continue
      sinceTurn = 0
      yield* Turn.next
    }
    if (next_cursor === null) return { total: reached, entries }
    if (reached > end) break
    query.set("after", next_cursor)
  }
  if (reached < end)
    return yield* Native.refuse(
      "offset",
      `reaches beyond the ${MAX_REACH} newest messages that one request searches, or fewer if they are large; narrow it with \`todate\``,
    )
  return { total: end + 1, entries }
})

const tooLarge = (entries: number) =>
  Native.refuse("count", `must be less than ${entries} for entries as large as these; read the others with \`offset\``)

const DAY = /^\d{4}-\d{2}-\d{2}$/u
const TIME = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/iu
const ZONE = /(?:Z|[+-]\d{2}:?\d{2})$/iu

/** Returns the time of a `fromdate`, which is inclusive; without a zone it is in UTC. */
export const from = (query: URLSearchParams) => instant(query, "fromdate", () => 0)

/** Returns the first time after a `todate`, which is inclusive: a day ends at midnight, a time after its second. */
export const until = (query: URLSearchParams) =>
  instant(query, "todate", (text) => (DAY.test(text) ? Timestamp.DAY : Timestamp.SECOND))

const instant = Effect.fnUntraced(function* (query: URLSearchParams, name: string, added: (text: string) => number) {
  const text = query.get(name)
  if (text === null) return undefined
  const utc = DAY.test(text) || ZONE.test(text) ? text : `${text}Z`
  const time = TIME.test(text) && isDay(text.slice(0, 10)) ? Option.getOrUndefined(DateTime.make(utc)) : undefined
  if (time === undefined) return yield* Native.refuse(name, "must be a date such as 2027-01-31 or 2027-01-31T09:00:00")
  return Timestamp.fromMillis(DateTime.toEpochMillis(time) + added(text))
})

/** Whether a day exists. JavaScript reads the 31st of February as the 3rd of March. */
const isDay = (day: string): boolean =>
  Option.exists(DateTime.make(day), (time) => DateTime.formatIsoDateUtc(time) === day)
