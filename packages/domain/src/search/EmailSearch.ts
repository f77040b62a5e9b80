import { nearestName } from "../values/nearestName.ts"
import * as Table from "../values/Table.ts"
import * as EmailFilter from "./EmailFilter.ts"
import * as MailboxProvider from "./MailboxProvider.ts"
import * as RecipientPart from "./RecipientPart.ts"
import * as ReplyCode from "./ReplyCode.ts"
import * as SearchDates from "./SearchDates.ts"
import * as SearchedStatus from "./SearchedStatus.ts"
import * as SearchText from "./SearchText.ts"

// The one grammar of a search: of the dashboard's box and palette, of `q` of the API, and of the command line. Without an
// import of a library, because browsers load it too.

type Declared = typeof EmailFilter.ALL

/** Filters of the email log, as parameters of the API. */
export type Filters = {
  readonly [
    N in EmailFilter.Name as Declared[N]["kind"] extends "pairs" ? `${N}.${string}` : N
  ]?: Declared[N]["kind"] extends "tags" ? ReadonlyArray<string> : string
} & {
  /** Free words, each in double quotes. */
  readonly q?: string
}

/** Keys and templates that a search may name, and its time. */
export interface Context {
  /** Undefined while the keys are not known, or for users who may not see them. */
  readonly keys: ReadonlyArray<{ readonly id: string; readonly name: string }> | undefined
  /** Undefined while they are not known, or for users who may not see them. */
  readonly templates?: ReadonlyArray<{ readonly id: string; readonly name: string; readonly alias: string | null }>
  readonly now: number
}

/** How a part of the text is understood. */
export interface Chip {
  readonly start: number
  readonly end: number
  readonly name: string
  readonly value: string
  /** Why the part is not understood; the search then finds nothing, instead of ignoring the part. */
  readonly problem?: string
  /** The part as it was probably meant, if another name is near. */
  readonly correction?: string
}

export interface Search {
  readonly filters: Filters
  readonly chips: ReadonlyArray<Chip>
  readonly isUnderstood: boolean
}

/** Limits of the API, which refuses more. */
export const MAX_WORDS = 5
export const MAX_PART_CHARS = 200

/** A whole address as people write it; a pattern such as `*@acme.com` is none. */
const ADDRESS = /^[^@\s"*?:<>]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+$/u
export const isAddress = (text: string): boolean => ADDRESS.test(text)
const DOMAIN = /^[^@\s.]+(?:\.[^@\s.]+)+$/u
const PAIR = /^([^=]{1,64})=(.+)$/su
const EMAIL_ID = /^<?msg_[0-7][0-9a-hjkmnp-tv-z]{25}(?:@[^@<>\s]+)?>?$/u

/** The filters that are read so far, by their parameters. */
type Read = Map<string, string | ReadonlyArray<string>>

const textIn = (filters: Read, name: string): string | undefined => {
  const value = filters.get(name)
  return typeof value === "string" ? value : undefined
}

/** A part understood as a filter of the API: its name and value on the chip, or a problem. */
type Understood = { readonly name: string; readonly value: string } | Problem

interface Problem {
  readonly problem: string
  readonly correction?: string
}

/** Understands a text as typed: each part becomes a filter, or says why it cannot. */
export const parse = (text: string, context: Context): Search => {
  const filters: Read = new Map()
  const words: Array<string> = []
  const chips = SearchText.tokensOf(text).map((token): Chip => {
    const { end, start, value } = token
    const read = readToken(token, filters, words, context, text)
    return "problem" in read ? { start, end, name: token.field ?? "Text", value, ...read } : { start, end, ...read }
  })
  const statuses = SearchedStatus.filtersOf(valuesIn(filters.get("status")), textIn(filters, "recipient_status"))
  if (words.length > 0) filters.set("q", words.map((word) => `"${word}"`).join(" "))
  return {
    filters: { ...Object.fromEntries(filters), ...statuses },
    chips,
    isUnderstood: chips.every(({ problem }) => problem === undefined),
  }
}

const readToken = (
  { field, start, value }: SearchText.Token,
  filters: Read,
  words: Array<string>,
  context: Context,
  text: string,
): Understood => {
  if (field === undefined) return readWord(value, filters, words, context)
  const name = filterOf(field, value)
  // A name of metadata is found in its own case.
  if (name === undefined) return unknownField(text.slice(start, start + field.length), value)
  if (value === "") return { problem: `Type ${EmailFilter.of(name).expected} after “${field}:”.` }
  if (value.length > MAX_PART_CHARS) return { problem: `Use at most ${MAX_PART_CHARS} characters.` }
  return patternProblem(field, value) ?? readFilter(name, value, filters, context)
}

/** Returns the filter that a word and its value mean; undefined if there is no such word. */
export const filterOf = (word: string, value: string): EmailFilter.Name | undefined => {
  const names = EmailFilter.withWord(word)
  return names.find((name) => fits(EmailFilter.of(name).kind, value)) ?? names[0]
}

const fits = (kind: EmailFilter.Kind, value: string): boolean =>
  kind === "address" ? ADDRESS.test(value) : kind !== "domain" || DOMAIN.test(withoutAt(value))

const withoutAt = (domain: string): string => domain.replace(/^@/u, "")

/** Says what was probably meant, and offers it. */
const meant = (problem: string, text: string, correction = text): Problem => ({
  problem: `${problem} Did you mean “${text}”?`,
  correction,
})

/** Refuses a pattern. Its begin is a part of the addresses of recipients, and its end the domain of senders. */
const patternProblem = (field: string, value: string): Problem | undefined => {
  if (!value.includes("*") || (field !== "to" && field !== "from" && field !== "domain")) return undefined
  const pieces = value.split("*").flatMap((piece) => piece.replace(/^[.]/u, "").replace(/[.]$/u, "") || [])
  const piece = pieces.at(field === "to" ? 0 : -1)
  const problem = `There are no patterns${field === "to" ? ": a part of an address finds it" : ""}.`
  return piece === undefined ? { problem } : meant(problem, SearchText.write(field, piece))
}

const unknownField = (field: string, value: string): Problem => {
  const nearest = EmailFilter.fieldOf(nearestName(field, EmailFilter.FIELDS) ?? "")
  const problem = `There is no filter “${field}:”.`
  if (nearest !== undefined) return meant(problem, `${nearest}:`, SearchText.write(nearest, value))
  const others = `${EmailFilter.FIELDS.map((each) => `${each}:`).join(" ")}, or put the text in quotes.`
  if (value === "") return { problem: `${problem} Use ${others}` }
  const correction = SearchText.write("metadata", `${field}=${value}`)
  return { problem: `${problem} For a pair of metadata, use ${correction}. The filters are ${others}`, correction }
}

const readWord = (value: string, filters: Read, words: Array<string>, context: Context): Understood => {
  if (EMAIL_ID.test(value)) return readFilter("message_id", value, filters, context)
  if (value.length > MAX_PART_CHARS) return { problem: `Use at most ${MAX_PART_CHARS} characters.` }
  if ([...words, value].join(" ").length > MAX_PART_CHARS - 3 * MAX_WORDS) return { problem: "The search is too long." }
  if (words.length === MAX_WORDS) return { problem: `Use at most ${MAX_WORDS} words; quotes make several words one.` }
  words.push(value)
  return { name: "Text", value }
}

/** A filter to read. */
interface Reading extends Context {
  readonly filter: EmailFilter.Name
  /** Name for people. */
  readonly name: string
  readonly filters: Read
}

const readFilter = (filter: EmailFilter.Name, value: string, filters: Read, context: Context): Understood => {
  const { kind, name } = EmailFilter.of(filter)
  return READERS[kind](value, { ...context, filter, name, filters })
}

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

/** Sets a filter that can be given once. */
const once = ({ filter, filters, name }: Reading, value: string, shown = value, key: string = filter): Understood => {
  if (filters.has(key)) return { problem: "Only one of these at a time." }
  filters.set(key, value)
  return { name, value: shown }
}

/** Adds values of a filter that takes several, separated by commas. */
const add = ({ filter, filters, name }: Reading, values: ReadonlyArray<string>, shown = values): Understood => {
  filters.set(filter, [...new Set([...valuesIn(filters.get(filter)), ...values])].join(","))
  return { name, value: shown.join(", ") }
}

/** Splits values that commas separate. */
const valuesIn = (value: string | ReadonlyArray<string> = ""): ReadonlyArray<string> =>
  typeof value === "string"
    ? value
        .toLowerCase()
        .split(",")
        .filter((each) => each !== "")
    : value

type Reader = (value: string, reading: Reading) => Understood

const statusReader =
  (all: ReadonlyArray<string>): Reader =>
  (value, reading) => {
    const { filter, filters } = reading
    const statuses = valuesIn(value).map((each) => each.replaceAll(" ", "-"))
    const unknown = statuses.find((each) => !all.includes(each))
    if (unknown !== undefined) {
      const known = SearchedStatus.meantBy(unknown, all)
      const problem = `There is no status “${unknown}”.`
      if (known === undefined) return { problem: `${problem} Use ${all.join(", ")}.` }
      const corrected = statuses.map((each) => (each === unknown ? known : each)).join(",")
      return meant(problem, known, SearchText.write(EmailFilter.ALL[filter].words[0], corrected))
    }
    const added = add(reading, statuses, statuses.map(SearchedStatus.nameOf))
    return SearchedStatus.filtersOf(valuesIn(filters.get("status")), textIn(filters, "recipient_status")) === undefined
      ? { problem: "With “partly-bounced”, only “bounced” goes together. Use anyone:bounced,failed for any recipient." }
      : added
  }

/** A part of a code, or an enhanced code such as 5.1.1, means its class. */
const codeProblem = (code: string): Problem => {
  if (code.startsWith("2")) return meant("Only refused emails are found by code.", "is:delivered")
  const problem = "Use an SMTP reply code from 400 to 599, such as 550, or 4xx or 5xx."
  const nearest = `${code.slice(0, 1)}xx`
  return ReplyCode.isCode(nearest) ? meant(problem, nearest, SearchText.write("code", nearest)) : { problem }
}

/** A domain that is of no large provider is a part of addresses. */
const providerProblem = (text: string): Problem => {
  const problem = `There is no provider “${text}”.`
  if (DOMAIN.test(text)) return meant(problem, SearchText.write("to", `@${withoutAt(text)}`))
  const nearest = MailboxProvider.nearest(text)
  return nearest === undefined
    ? { problem: `${problem} Use ${MailboxProvider.ALL.join(", ")}, or a part of the addresses, such as to:@acme.com.` }
    : meant(problem, nearest, SearchText.write("provider", nearest))
}

/** Reads a value of each kind. */
const READERS: { readonly [K in EmailFilter.Kind]: Reader } = {
  address: (value, reading) =>
    ADDRESS.test(value)
      ? once(reading, value)
      : {
          problem: `Use a full address or a domain, such as hello@acme.com or acme.com, or “${value}” as a word.`,
          correction: SearchText.writeWord(value),
        },
  part: (value, reading) => {
    const name = value.startsWith("^") ? reading.name.replace("contains", "begins with") : reading.name
    return once({ ...reading, name }, value, RecipientPart.of(value).text)
  },
  text: (value, reading) => once(reading, value),
  tags: (value, { filter, filters, name }) => {
    const tags = filters.get(filter) ?? []
    if (tags.length === EmailFilter.MAX_TAGS) return { problem: `Use at most ${EmailFilter.MAX_TAGS} tags.` }
    filters.set(filter, [...tags, value])
    return { name, value }
  },
  pairs: (value, reading) => {
    const [, name, text] = PAIR.exec(value) ?? []
    if (name === undefined || text === undefined) return { problem: "Use a name and its value, such as order=7041." }
    const prefix = `${reading.filter}.`
    if ([...reading.filters.keys()].filter((key) => key.startsWith(prefix)).length === EmailFilter.MAX_PAIRS)
      return { problem: `Use at most ${EmailFilter.MAX_PAIRS} pairs of metadata.` }
    return once(reading, text, value, `${prefix}${name}`)
  },
  domain: (value, reading) => {
    const domain = withoutAt(value)
    return DOMAIN.test(domain)
      ? once(reading, domain.toLowerCase(), domain)
      : { problem: "Use a domain, such as acme.com." }
  },
  statuses: statusReader(SearchedStatus.OF_EMAILS),
  recipientStatuses: statusReader(SearchedStatus.OF_RECIPIENTS),
  codes: (value, reading) => {
    const added = valuesIn(value)
    const codes = [...valuesIn(reading.filters.get(reading.filter)), ...added]
    const wrong = codes.find((code) => !ReplyCode.isCode(code))
    if (wrong !== undefined) return codeProblem(wrong)
    return codes.length > ReplyCode.MAX_CODES
      ? { problem: `Use at most ${ReplyCode.MAX_CODES} reply codes.` }
      : add(reading, added)
  },
  providers: (value, reading) => {
    const texts = valuesIn(value)
    const wrong = texts.find((text) => MailboxProvider.named(text) === undefined)
    if (wrong !== undefined) return providerProblem(wrong)
    const found = [...new Set(texts.flatMap((text) => MailboxProvider.named(text) ?? []))]
    return add(
      reading,
      found,
      found.map((each) => MailboxProvider.NAMES[each]),
    )
  },
  key: (value, reading) => {
    const { keys } = reading
    if (/^key_[0-7][0-9a-z]{25}$/u.test(value))
      return once(reading, value, keys?.find(({ id }) => id === value)?.name ?? value)
    if (keys === undefined)
      return { problem: "The names of API keys are not shown to you. Use the id of the key (key_…)." }
    const exact = keys.filter(({ name }) => same(name, value))
    const found = exact.length > 0 ? exact : keys.filter(({ name }) => name.toLowerCase().includes(value.toLowerCase()))
    const [key, ...others] = found
    if (key === undefined) return { problem: `No API key is named “${value}”.` }
    return others.length > 0
      ? {
          problem: `Several API keys are named so: ${found.map(({ name }) => `“${name}”`).join(", ")}. Use the id (key_…).`,
        }
      : once(reading, key.id, key.name)
  },
  template: (value, reading) => {
    const found = reading.templates?.find(
      ({ alias, id, name }) => id === value || alias === value || (alias === null && same(name, value)),
    )
    return found !== undefined || /^tpl_[0-7][0-9a-z]{25}$/u.test(value)
      ? once(reading, found?.id ?? value, found?.name)
      : { problem: `No template has the alias “${value}”. Use an alias, or the id of a template (tpl_…).` }
  },
  time: (value, reading) => {
    const date = SearchDates.parse(value, reading.now)
    return date === undefined
      ? { problem: "Use a date such as 2026-11-30, 2026-11-30T14:00, today, yesterday, 24h or 7d." }
      : once(reading, date, SearchDates.show(date))
  },
  due: (value, reading) => {
    const range = SearchDates.upcoming(value, reading.now)
    if (range === undefined)
      return { problem: "Use a day such as tomorrow or 2026-12-01, in UTC, or 24h or 7d for the time until then." }
    const { from, to } = range
    const shown = from === undefined ? `until ${SearchDates.show(to)}` : SearchDates.showDay(from)
    const read = once(reading, to, shown, "scheduled_before")
    if (from !== undefined && !("problem" in read)) reading.filters.set("scheduled_after", from)
    return read
  },
  email: (value, reading) =>
    EMAIL_ID.test(value)
      ? once(reading, value)
      : { problem: "Use the id of an email (msg_…) or a Message-ID of one sent here (<msg_…@acme.com>)." },
}

/**
 * Reads the text of the search from the URL. Links may also name filters as the API does; they become a text that the
 * search box shows.
 */
export const searchOf = (search: Readonly<Record<string, unknown>>): { readonly search?: string } => {
  // Other lists name the text `q`, and so may a link.
  const typed = isText(search["search"]) ? search["search"] : search["q"]
  const filters = Object.entries(search).flatMap(([parameter, value]) => {
    const [name = "", ...pair] = parameter.split(".")
    const filter = Table.at<Declared[EmailFilter.Name]>(EmailFilter.ALL, name)
    if (filter === undefined || filter.kind === "due" || (filter.kind === "pairs") !== pair.length > 0) return []
    const before = pair.length > 0 ? `${pair.join(".")}=` : ""
    return [value]
      .flat()
      .flatMap((each) => (isText(each) ? [SearchText.write(filter.words[0], `${before}${String(each)}`)] : []))
  })
  const text = [...(isText(typed) ? [String(typed)] : []), ...filters].join(" ")
  return text === "" ? {} : { search: text }
}

/** The router parses a text of digits as a number. */
const isText = (value: unknown): boolean => (typeof value === "string" || typeof value === "number") && value !== ""

/** Returns the one address that a search asks for, as a recipient or as its only words. */
export const soughtAddress = ({ q, recipient, to = recipient ?? q ?? "" }: Filters): string | undefined => {
  const address = to.replaceAll('"', "")
  return isAddress(address) ? address : undefined
}
