import { nearestName } from "../values/nearestName.ts"
import * as MailboxProvider from "./MailboxProvider.ts"
import * as RecipientPart from "./RecipientPart.ts"
import * as ReplyCode from "./ReplyCode.ts"
import * as SearchDates from "./SearchDates.ts"
import * as SearchedStatus from "./SearchedStatus.ts"
import * as SearchText from "./SearchText.ts"

// The one grammar of a search: of the dashboard's box and palette, of `q` of the API, and of the command line. Without an
// import of a library, because browsers load it too.

/** Filters of the email log, as parameters of the API. */
export interface Filters {
  readonly status?: string
  /** Statuses of any recipient. */
  readonly recipient_status?: string
  /** Reply codes and classes of codes. */
  readonly code?: string
  /** Providers of the mailboxes of recipients. */
  readonly provider?: string
  readonly to?: string
  readonly from?: string
  readonly subject?: string
  readonly tag?: ReadonlyArray<string>
  /** The value of a pair of metadata. */
  readonly [pair: `metadata.${string}`]: string
  readonly domain?: string
  readonly created_after?: string
  readonly created_before?: string
  /** Times of scheduled mail. */
  readonly scheduled_after?: string
  readonly scheduled_before?: string
  /** Part of an address of a recipient, as `RecipientPart` reads it. */
  readonly recipient?: string
  /** Free words, each in double quotes. */
  readonly q?: string
  readonly message_id?: string
  readonly api_key_id?: string
  /** Id of the template that it was made of. */
  readonly template?: string
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
export const MAX_TAGS = 5
export const MAX_PAIRS = 5
export const MAX_PART_CHARS = 200

/** A whole address as people write it; a pattern such as `*@acme.com` is none. */
const ADDRESS = /^[^@\s"*?:<>]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+$/u
export const isAddress = (text: string): boolean => ADDRESS.test(text)
const DOMAIN = /^[^@\s.]+(?:\.[^@\s.]+)+$/u
const PAIR = /^([^=]{1,64})=(.+)$/su
const EMAIL_ID = /^<?msg_[0-7][0-9a-hjkmnp-tv-z]{25}(?:@[^@<>\s]+)?>?$/u

/** Begins the names of parameters that are pairs of metadata. */
const OF_METADATA = "metadata."

type Mutable = { -readonly [K in keyof Filters]: Filters[K] }

/** A part understood as a filter of the API: its name and value on the chip, or a problem. */
type Understood = { readonly name: string; readonly value: string } | Problem

interface Problem {
  readonly problem: string
  readonly correction?: string
}

/** Understands a text as typed: each part becomes a filter, or says why it cannot. */
export const parse = (text: string, context: Context): Search => {
  const filters: Mutable = {}
  const words: Array<string> = []
  const chips = SearchText.tokensOf(text).map((token): Chip => {
    const { end, start, value } = token
    const read = readToken(token, filters, words, context, text)
    return "problem" in read ? { start, end, name: token.field ?? "Text", value, ...read } : { start, end, ...read }
  })
  Object.assign(filters, SearchedStatus.filtersOf(valuesIn(filters.status), filters.recipient_status))
  if (words.length > 0) filters.q = words.map((word) => `"${word}"`).join(" ")
  return { filters, chips, isUnderstood: chips.every(({ problem }) => problem === undefined) }
}

const readToken = (
  { field, start, value }: SearchText.Token,
  filters: Mutable,
  words: Array<string>,
  context: Context,
  text: string,
): Understood => {
  if (field === undefined) return readWord(value, filters, words, context)
  // A name of metadata is found in its own case.
  if (!SearchText.isField(field)) return unknownField(text.slice(start, start + field.length), value)
  if (value === "") return { problem: `Type ${EXPECTED[field]} after “${field}:”.` }
  if (value.length > MAX_PART_CHARS) return { problem: `Use at most ${MAX_PART_CHARS} characters.` }
  return patternProblem(field, value) ?? READERS[field](value, filters, context)
}

/** Refuses a pattern. Its begin is a part of the addresses of recipients, and its end the domain of senders. */
const patternProblem = (field: SearchText.Field, value: string): Problem | undefined => {
  if (!value.includes("*") || !["to", "from", "domain"].includes(field)) return undefined
  const pieces = value.split("*").flatMap((piece) => piece.replace(/^[.]/u, "").replace(/[.]$/u, "") || [])
  const piece = pieces.at(field === "to" ? 0 : -1)
  const problem = `There are no patterns${field === "to" ? ": a part of an address finds it" : ""}.`
  if (piece === undefined) return { problem }
  const correction = SearchText.write(field, piece)
  return { problem: `${problem} Did you mean “${correction}”?`, correction }
}

const unknownField = (field: string, value: string): Problem => {
  const nearest = SearchText.FIELDS.find((each) => each === nearestName(field, SearchText.FIELDS))
  const problem = `There is no filter “${field}:”.`
  if (nearest !== undefined)
    return { problem: `${problem} Did you mean “${nearest}:”?`, correction: SearchText.write(nearest, value) }
  const others = `${SearchText.FIELDS.map((each) => `${each}:`).join(" ")}, or put the text in quotes.`
  if (value === "") return { problem: `${problem} Use ${others}` }
  const correction = SearchText.write("metadata", `${field}=${value}`)
  return { problem: `${problem} For a pair of metadata, use ${correction}. The filters are ${others}`, correction }
}

const EXPECTED: { readonly [F in SearchText.Field]: string } = {
  from: "an address or a domain",
  to: "an address or a part of one",
  subject: "a part of the subject",
  tag: "a tag",
  metadata: "a name and its value, such as order=7041,",
  domain: "a domain",
  is: "a status, such as bounced",
  anyone: "a status, such as bounced",
  code: "a reply code, such as 550 or 5xx",
  provider: "a provider of mailboxes, such as gmail or microsoft",
  key: "the name of an API key",
  template: "the alias or the id of a template",
  since: "a date, such as 2026-11-30, today or 7d",
  until: "a date, such as 2026-11-30, today or 7d",
  scheduled: "a day, such as tomorrow or 2026-12-01",
  id: "the id or the Message-ID of an email",
}

const readWord = (value: string, filters: Mutable, words: Array<string>, context: Context): Understood => {
  if (EMAIL_ID.test(value)) return READERS.id(value, filters, context)
  if (value.length > MAX_PART_CHARS) return { problem: `Use at most ${MAX_PART_CHARS} characters.` }
  if ([...words, value].join(" ").length > MAX_PART_CHARS - 3 * MAX_WORDS) return { problem: "The search is too long." }
  if (words.length === MAX_WORDS) return { problem: `Use at most ${MAX_WORDS} words; quotes make several words one.` }
  words.push(value)
  return { name: "Text", value }
}

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

/** Sets a filter that can be given once. */
const once = <K extends keyof Mutable>(filters: Mutable, key: K, value: Mutable[K], chip: Understood): Understood => {
  if (filters[key] !== undefined) return { problem: "Only one of these at a time." }
  filters[key] = value
  return chip
}

type Reader = (value: string, filters: Mutable, context: Context) => Understood

const statusReader =
  (key: "status" | "recipient_status", name: string, known: ReadonlyArray<string>): Reader =>
  (value, filters) => {
    const statuses = valuesIn(value).map((each) => each.replaceAll(" ", "-"))
    const unknown = statuses.find((each) => !known.includes(each))
    if (unknown !== undefined) {
      const meant = SearchedStatus.meantBy(unknown, known)
      const problem = `There is no status “${unknown}”.`
      if (meant === undefined) return { problem: `${problem} Use ${known.join(", ")}.` }
      const corrected = statuses.map((each) => (each === unknown ? meant : each)).join(",")
      return {
        problem: `${problem} Did you mean “${meant}”?`,
        correction: SearchText.write(key === "status" ? "is" : "anyone", corrected),
      }
    }
    filters[key] = [...new Set([...(filters[key]?.split(",") ?? []), ...statuses])].join(",")
    return SearchedStatus.filtersOf(valuesIn(filters.status), filters.recipient_status) === undefined
      ? { problem: "With “partly-bounced”, only “bounced” goes together. Use anyone:bounced,failed for any recipient." }
      : { name, value: statuses.map(SearchedStatus.nameOf).join(", ") }
  }

/** Splits values that commas separate. */
const valuesIn = (value = ""): ReadonlyArray<string> =>
  value
    .toLowerCase()
    .split(",")
    .filter((each) => each !== "")

/** A part of a code, or an enhanced code such as 5.1.1, means its class. */
const codeProblem = (code: string): Problem => {
  if (code.startsWith("2"))
    return {
      problem: "Only refused emails are found by code. Did you mean “is:delivered”?",
      correction: "is:delivered",
    }
  const nearest = /^[45]/u.test(code) ? `${code.slice(0, 1)}xx` : undefined
  const problem = "Use an SMTP reply code from 400 to 599, such as 550, or 4xx or 5xx."
  return nearest === undefined
    ? { problem }
    : { problem: `${problem} Did you mean “${nearest}”?`, correction: SearchText.write("code", nearest) }
}

/** A domain that is of no large provider is a part of addresses. */
const providerProblem = (text: string): Problem => {
  const nearest = DOMAIN.test(text) ? undefined : MailboxProvider.nearest(text)
  const problem = `There is no provider “${text}”.`
  if (nearest !== undefined)
    return { problem: `${problem} Did you mean “${nearest}”?`, correction: SearchText.write("provider", nearest) }
  const part = SearchText.write("to", `@${text.replace(/^@/u, "")}`)
  return DOMAIN.test(text)
    ? { problem: `${problem} Did you mean “${part}”?`, correction: part }
    : { problem: `${problem} Use ${MailboxProvider.ALL.join(", ")}, or a part of the addresses, such as to:@acme.com.` }
}

const dateReader =
  (key: "created_after" | "created_before", name: string): Reader =>
  (value, filters, { now }) => {
    const date = SearchDates.parse(value, now)
    return date === undefined
      ? { problem: "Use a date such as 2026-11-30, 2026-11-30T14:00, today, yesterday, 24h or 7d." }
      : once(filters, key, date, { name, value: SearchDates.show(date) })
  }

const READERS: { readonly [F in SearchText.Field]: Reader } = {
  from: (value, filters) => {
    if (ADDRESS.test(value)) return once(filters, "from", value, { name: "From", value })
    const domain = value.replace(/^@/u, "")
    return DOMAIN.test(domain)
      ? once(filters, "domain", domain, { name: "From domain", value: domain })
      : {
          problem: `Use a full address or a domain, such as hello@acme.com or acme.com, or “${value}” as a word.`,
          correction: SearchText.writeWord(value),
        }
  },
  to: (value, filters) =>
    ADDRESS.test(value)
      ? once(filters, "to", value, { name: "To", value })
      : once(filters, "recipient", value, {
          name: value.startsWith("^") ? "To begins with" : "To contains",
          value: RecipientPart.of(value).text,
        }),
  subject: (value, filters) => once(filters, "subject", value, { name: "Subject contains", value }),
  tag: (value, filters) => {
    const tags = filters.tag ?? []
    if (tags.length === MAX_TAGS) return { problem: `Use at most ${MAX_TAGS} tags.` }
    filters.tag = [...tags, value]
    return { name: "Tag", value }
  },
  metadata: (value, filters) => {
    const [, name, text] = PAIR.exec(value) ?? []
    if (name === undefined || text === undefined) return { problem: "Use a name and its value, such as order=7041." }
    if (Object.keys(filters).filter((key) => key.startsWith(OF_METADATA)).length === MAX_PAIRS)
      return { problem: `Use at most ${MAX_PAIRS} pairs of metadata.` }
    return once(filters, `${OF_METADATA}${name}`, text, { name: "Metadata", value })
  },
  domain: (value, filters) =>
    DOMAIN.test(value)
      ? once(filters, "domain", value.toLowerCase(), { name: "From domain", value })
      : { problem: "Use a domain, such as acme.com." },
  is: statusReader("status", "Status", SearchedStatus.OF_EMAILS),
  anyone: statusReader("recipient_status", "Any recipient", SearchedStatus.OF_RECIPIENTS),
  code: (value, filters) => {
    const codes = [...valuesIn(filters.code), ...valuesIn(value)]
    const wrong = codes.find((code) => !ReplyCode.isCode(code))
    if (wrong !== undefined) return codeProblem(wrong)
    if (codes.length > ReplyCode.MAX_CODES) return { problem: `Use at most ${ReplyCode.MAX_CODES} reply codes.` }
    filters.code = [...new Set(codes)].join(",")
    return { name: "Reply code", value: valuesIn(value).join(", ") }
  },
  provider: (value, filters) => {
    const texts = valuesIn(value)
    const wrong = texts.find((text) => MailboxProvider.named(text) === undefined)
    if (wrong !== undefined) return providerProblem(wrong)
    const found = [...new Set(texts.flatMap((text) => MailboxProvider.named(text) ?? []))]
    filters.provider = [...new Set([...valuesIn(filters.provider), ...found])].join(",")
    return { name: "Recipients at", value: found.map((each) => MailboxProvider.NAMES[each]).join(", ") }
  },
  key: (value, filters, { keys }) => {
    if (/^key_[0-7][0-9a-z]{25}$/u.test(value))
      return once(filters, "api_key_id", value, {
        name: "API key",
        value: keys?.find(({ id }) => id === value)?.name ?? value,
      })
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
      : once(filters, "api_key_id", key.id, { name: "API key", value: key.name })
  },
  template: (value, filters, { templates = [] }) => {
    const found = templates.find(
      ({ alias, id, name }) => id === value || alias === value || (alias === null && same(name, value)),
    )
    const shown = { name: "Template", value: found?.name ?? value }
    if (found !== undefined || /^tpl_[0-7][0-9a-z]{25}$/u.test(value))
      return once(filters, "template", found?.id ?? value, shown)
    return { problem: `No template has the alias “${value}”. Use an alias, or the id of a template (tpl_…).` }
  },
  since: dateReader("created_after", "Since"),
  until: dateReader("created_before", "Until"),
  scheduled: (value, filters, { now }) => {
    const range = SearchDates.upcoming(value, now)
    if (range === undefined)
      return { problem: "Use a day such as tomorrow or 2026-12-01, in UTC, or 24h or 7d for the time until then." }
    const { from, to } = range
    if (filters.scheduled_before !== undefined) return { problem: "Only one of these at a time." }
    if (from !== undefined) filters.scheduled_after = from
    filters.scheduled_before = to
    return {
      name: "Scheduled",
      value: from === undefined ? `until ${SearchDates.show(to)}` : SearchDates.showDay(from),
    }
  },
  id: (value, filters) =>
    EMAIL_ID.test(value)
      ? once(filters, "message_id", value, { name: value.includes("@") ? "Message-ID" : "Email", value })
      : { problem: "Use the id of an email (msg_…) or a Message-ID of one sent here (<msg_…@acme.com>)." },
}

/**
 * Reads the text of the search from the URL. Links may also name filters as the API does; they become a text that the
 * search box shows.
 */
export const searchOf = (search: Readonly<Record<string, unknown>>): { readonly search?: string } => {
  // Other lists name the text `q`, and so may a link.
  const typed = isText(search["search"]) ? search["search"] : search["q"]
  const others = Object.entries(FIELD_OF).flatMap(([name, field]) => {
    const value = search[name]
    return (Array.isArray(value) ? value : [value]).flatMap((each) =>
      isText(each) ? [SearchText.write(field, String(each))] : [],
    )
  })
  const pairs = Object.entries(search).flatMap(([name, value]) =>
    name.startsWith(OF_METADATA) && isText(value)
      ? [SearchText.write("metadata", `${name.slice(OF_METADATA.length)}=${String(value)}`)]
      : [],
  )
  const text = [...(isText(typed) ? [String(typed)] : []), ...others, ...pairs].join(" ")
  return text === "" ? {} : { search: text }
}

/** The router parses a text of digits as a number. */
const isText = (value: unknown): boolean => (typeof value === "string" || typeof value === "number") && value !== ""

const FIELD_OF: Readonly<Record<string, SearchText.Field>> = {
  status: "is",
  recipient_status: "anyone",
  code: "code",
  provider: "provider",
  to: "to",
  from: "from",
  subject: "subject",
  tag: "tag",
  domain: "domain",
  api_key_id: "key",
  template: "template",
  created_after: "since",
  created_before: "until",
}
