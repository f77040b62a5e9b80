import * as Labels from "@waybill/domain/email/Labels"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import type { Field } from "@waybill/mail/report/SubmittedMessage"

/** The meaning of headers that were written for another service. */
export interface Instructions {
  readonly tags: ReadonlyArray<string>
  readonly metadata: Labels.Metadata
  readonly opens: boolean | undefined
  readonly clicks: boolean | undefined
  /** When the message is to be sent, in ISO 8601. */
  readonly scheduledAt: string | undefined
  /** Names, in lower case, of the headers of which nothing was left out. */
  readonly read: ReadonlySet<string>
}

/** The meaning of one header. */
interface Said {
  readonly tags?: ReadonlyArray<string> | undefined
  readonly pairs?: ReadonlyArray<Pair> | undefined
  readonly opens?: boolean | undefined
  readonly clicks?: boolean | undefined
  readonly scheduledAt?: string | undefined
  /** Whether all of the header has a meaning here. */
  readonly isWhole: boolean
}

type Pair = readonly [name: string, value: string]

const UNKNOWN: Said = { isWhole: false }

/**
 * Reads headers of other services. Tags that are not valid, or more than a message may have with its own, become metadata.
 * Pairs that are not valid, too many, or of a name that came before, are left out.
 */
export const read = (fields: ReadonlyArray<Field>, own: ReadonlyArray<string>): Instructions => {
  const known = new Set(own)
  const tags: Array<string> = []
  const metadata = new Map<string, string>()
  const unread = new Set<string>()
  let opens: boolean | undefined
  let clicks: boolean | undefined
  let scheduledAt: string | undefined
  for (const field of fields) {
    const said = readOne(field)
    opens ??= said.opens
    clicks ??= said.clicks
    scheduledAt ??= said.scheduledAt
    const pairs = [...(said.pairs ?? [])]
    for (const tag of said.tags ?? []) {
      if (known.has(tag)) continue
      known.add(tag)
      if (own.length + tags.length < Labels.MAX_TAGS && Labels.isTag(tag)) tags.push(tag)
      else pairs.push([Labels.furtherName(known.size), tag])
    }
    let isWhole = said.isWhole
    for (const [name, value] of pairs)
      if (metadata.get(name) !== value) {
        if (metadata.size === Labels.MAX_METADATA || metadata.has(name) || !Labels.isPair(name, value)) isWhole = false
        else metadata.set(name, value)
      }
    if (!isWhole) unread.add(field.name.toLowerCase())
  }
  const names = fields.map(({ name }) => name.toLowerCase())
  const isRead = (name: string) => !unread.has(name)
  return {
    tags,
    metadata: Object.fromEntries(metadata),
    opens,
    clicks,
    scheduledAt,
    read: new Set(names.filter(isRead)),
  }
}

/** A header for one pair, of Postmark, or of Symfony and Laravel, which write it for services that they do not know. */
const METADATA = /^x-(?:pm-)?metadata-/iu

/** Whether a header is a pair and steers nobody. */
export const isPair = ({ name }: Field): boolean => /^x-metadata-/iu.test(name)

const readOne = ({ name, value }: Field): Said => {
  const lower = name.toLowerCase()
  const pair = name.replace(METADATA, "")
  if (pair !== name) return { pairs: [[pair, value.trim()]], isWhole: true }
  switch (lower) {
    case "x-ses-message-tags":
      return sesOf(wordsOf(value))
    case "x-mc-tags":
      return { tags: wordsOf(value), isWhole: true }
    case "x-mc-sendat":
      return timeOf(`${value.trim().replace(" ", "T")}Z`)
    case "x-mailgun-tag":
      return labelsOf(value.trim())
    case "x-mailgun-variables":
    case "x-mc-metadata":
      return pairsOf(objectIn(value))
    case "x-mc-track":
      return trackOf(wordsOf(value.toLowerCase()))
    case "x-smtpapi":
      return sendGridOf(objectIn(value))
    case "x-msys-api":
      return sparkPostOf(objectIn(value))
    default:
      return UNKNOWN
  }
}

const wordsOf = (value: string): ReadonlyArray<string> =>
  value
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "")

type Json = Readonly<Record<string, unknown>>

const asObject = (value: unknown): Json | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined

const objectIn = (text: string): Json | undefined => {
  try {
    return asObject(JSON.parse(text))
  } catch {
    return undefined
  }
}

const isWord = (value: unknown): value is string | number | boolean =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean"

/** Pairs of Amazon SES, `name=value`. */
const sesOf = (words: ReadonlyArray<string>): Said => {
  const pairs = words.map((word): Pair => {
    const [name = "", ...value] = word.split("=")
    return [name.trimEnd(), value.join("=").trimStart()]
  })
  return { pairs, isWhole: true }
}

const pairsOf = (pairs: unknown): Said => {
  const object = asObject(pairs)
  if (object === undefined) return UNKNOWN
  const entries = Object.entries(object)
  const words = entries.filter(([, value]) => isWord(value))
  return {
    pairs: words.map(([name, value]): Pair => [name, String(value)]),
    isWhole: words.length === entries.length,
  }
}

/** One label or a list of them. */
const labelsOf = (labels: unknown): Said => {
  const list: ReadonlyArray<unknown> = Array.isArray(labels) ? labels : [labels]
  const words = list.filter(isWord)
  return { tags: words.map(String), isWhole: words.length === list.length }
}

const CLICKS: ReadonlySet<string> = new Set(["clicks", "clicks_all", "clicks_htmlonly"])
const TRACKED: ReadonlySet<string> = new Set(["opens", "none", "clicks_textonly", ...CLICKS])

const trackOf = (words: ReadonlyArray<string>): Said =>
  words.every((word) => TRACKED.has(word))
    ? { opens: words.includes("opens"), clicks: words.some((word) => CLICKS.has(word)), isWhole: true }
    : UNKNOWN

/** A time with its zone, in ISO 8601. */
const timeOf = (text: unknown): Said => {
  const time = typeof text === "string" && ISO.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? UNKNOWN : { scheduledAt: Timestamp.fromMillis(time), isWhole: true }
}
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/u

/** The last second of the year 9999. */
const MAX_UNIX_TIME = 253_402_300_799

const unixTimeOf = (seconds: unknown): Said =>
  Number.isInteger(seconds) && Number(seconds) > 0 && Number(seconds) <= MAX_UNIX_TIME
    ? { scheduledAt: Timestamp.fromMillis(Number(seconds) * 1_000), isWhole: true }
    : UNKNOWN

const flagOf = (value: unknown): Said["opens"] =>
  value === true || value === 1 || value === "1"
    ? true
    : value === false || value === 0 || value === "0"
      ? false
      : undefined

/** Reads members of an object by their names. Members of other names make it not whole. */
const membersOf = (object: Json | undefined, readers: ReadonlyMap<string, (value: unknown) => Said>): Said => {
  if (object === undefined) return UNKNOWN
  const said = Object.entries(object).map(([name, value]) => readers.get(name)?.(value) ?? UNKNOWN)
  return {
    tags: said.flatMap(({ tags = [] }) => tags),
    pairs: said.flatMap(({ pairs = [] }) => pairs),
    opens: said.find(({ opens }) => opens !== undefined)?.opens,
    clicks: said.find(({ clicks }) => clicks !== undefined)?.clicks,
    scheduledAt: said.find(({ scheduledAt }) => scheduledAt !== undefined)?.scheduledAt,
    isWhole: said.every(({ isWhole }) => isWhole),
  }
}

const tracking =
  (of: "opens" | "clicks") =>
  (value: unknown): Said => {
    const flag = flagOf(value)
    return { [of]: flag, isWhole: flag !== undefined }
  }

const filter =
  (of: "opens" | "clicks") =>
  (value: unknown): Said =>
    tracking(of)(asObject(asObject(value)?.["settings"])?.["enable"])

/** SendGrid's header: categories, arguments, a time, and its filters for opens and clicks. */
const sendGridOf = (object: Json | undefined): Said =>
  membersOf(
    object,
    new Map([
      ["category", labelsOf],
      ["unique_args", pairsOf],
      ["send_at", unixTimeOf],
      [
        "filters",
        (value) =>
          membersOf(
            asObject(value),
            new Map([
              ["opentrack", filter("opens")],
              ["clicktrack", filter("clicks")],
            ]),
          ),
      ],
    ]),
  )

/** SparkPost's header: the campaign, tags, metadata, and its options for opens, clicks and a time. */
const sparkPostOf = (object: Json | undefined): Said =>
  membersOf(
    object,
    new Map([
      ["campaign_id", labelsOf],
      ["tags", labelsOf],
      ["metadata", pairsOf],
      [
        "options",
        (value) =>
          membersOf(
            asObject(value),
            new Map([
              ["open_tracking", tracking("opens")],
              ["click_tracking", tracking("clicks")],
              ["start_time", timeOf],
              // All mail is transactional.
              ["transactional", (): Said => ({ isWhole: true })],
            ]),
          ),
      ],
    ]),
  )
