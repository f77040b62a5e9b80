import type { TemplateRecord } from "../../api/Records.ts"

type Source = TemplateRecord["draft"]

/**
 * Texts that the editor changes, by name. The words of a language are `locales.de.html` and so on. Flat, so that the
 * changes of two people are compared and merged text by text.
 */
export type Form = Readonly<Record<string, string>>

export const WORDS = ["subject", "preheader", "html", "text"] as const
export type Word = (typeof WORDS)[number]

const LABELS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    name: "Name",
    alias: "Alias",
    description: "Description",
    subject: "Subject",
    preheader: "Preheader",
    html: "HTML",
    text: "Text",
    from: "From",
    reply_to: "Reply-To",
    layout: "Layout",
    language: "Language",
    variables: "Variables",
  }),
)

/** Returns the name of a text for people: `locales.de.html` is “HTML (de)”. */
export const labelOf = (name: string): string => {
  const [, tag, word] = /^locales\.([^.]+)\.(\w+)$/u.exec(name) ?? []
  return tag === undefined ? (LABELS.get(name) ?? name) : `${LABELS.get(word ?? "") ?? word ?? ""} (${tag})`
}

/** The language of words that no other service has written. */
const LIQUID = "liquid"

export const nameOf = (word: Word, locale: string | null): string =>
  locale === null ? word : `locales.${locale}.${word}`

/** Returns the texts of a source, without the names of its template. */
export const ofSource = ({ from, layout, locales, reply_to, variables, ...source }: Source): Form => ({
  ...Object.fromEntries(WORDS.map((word) => [word, source[word] ?? ""])),
  ...Object.fromEntries(
    Object.entries(locales).flatMap(([tag, words]) => WORDS.map((word) => [nameOf(word, tag), words[word] ?? ""])),
  ),
  from: from ?? "",
  reply_to: reply_to.join(", "),
  layout: layout ?? "",
  language: source.language ?? LIQUID,
  variables: variables === null ? "" : JSON.stringify(variables, null, 2),
})

export const of = ({ alias, description, draft, name }: TemplateRecord): Form => ({
  name,
  alias: alias ?? "",
  description: description ?? "",
  ...ofSource(draft),
})

export const localesOf = (form: Form): ReadonlyArray<string> => [
  ...new Set(Object.keys(form).flatMap((name) => /^locales\.([^.]+)\./u.exec(name)?.[1] ?? [])),
]

export const withLocale = (form: Form, tag: string): Form => ({
  ...form,
  ...Object.fromEntries(WORDS.map((word) => [nameOf(word, tag), form[nameOf(word, tag)] ?? ""])),
})

export const withoutLocale = (form: Form, tag: string): Form =>
  Object.fromEntries(Object.entries(form).filter(([name]) => !name.startsWith(`locales.${tag}.`)))

/** Sorts the names of an object, whose order the service does not keep. */
const sorted = (_: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
    : value

/** Returns a text for comparison: spaces and the order of names mean nothing in the schema of the variables. */
export const normalized = (name: string, text: string | undefined): string | undefined => {
  const value = name === "variables" ? objectIn(text) : undefined
  return value === undefined ? text : JSON.stringify(value, sorted, 2)
}

const isSame = (name: string, one: Form, other: Form): boolean =>
  one[name] === other[name] || normalized(name, one[name]) === normalized(name, other[name])

/** Returns the names of the texts that differ. */
export const changes = (before: Form, after: Form): ReadonlyArray<string> =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => !isSame(name, before, after))

const orNull = (text: string | undefined): string | null => (text === undefined || text === "" ? null : text)

/** An address may have a comma in its name in quotes. */
const addressesIn = (text: string): ReadonlyArray<string> =>
  (text.match(/(?:"[^"]*"|[^,"])+/gu) ?? []).map((each) => each.trim()).filter((each) => each !== "")

const wordsIn = (form: Form, locale: string | null) =>
  Object.fromEntries(WORDS.map((word) => [word, orNull(form[nameOf(word, locale)])]))

const languageOf = (form: Form) => (form["language"] ?? LIQUID) as NonNullable<Source["language"]>

/** Returns the source as the API takes it. Throws a `SyntaxError` if the schema is no JSON. */
export const toSource = (form: Form) => ({
  ...wordsIn(form, null),
  from: orNull(form["from"]?.trim()),
  reply_to: addressesIn(form["reply_to"] ?? ""),
  layout: orNull(form["layout"]),
  language: languageOf(form),
  locales: Object.fromEntries(localesOf(form).map((tag) => [tag, wordsIn(form, tag)])),
  variables: form["variables"]?.trim() === "" ? null : (JSON.parse(form["variables"] ?? "null") as unknown),
})

/** Returns the fields of the API that differ, and only them, so that a change of somebody else to another one stays. */
export const toChange = (before: Form, after: Form): Record<string, unknown> => {
  const fields: Record<string, unknown> = {
    name: after["name"],
    alias: orNull(after["alias"]),
    description: orNull(after["description"]),
    ...toSource(after),
  }
  const changed = new Set(changes(before, after).map((name) => name.split(".")[0]))
  return Object.fromEntries(Object.entries(fields).filter(([name]) => changed.has(name)))
}

export interface Merged {
  readonly form: Form
  /** Texts that both have changed, each in another way. The form has one's own. */
  readonly conflicts: ReadonlyArray<string>
}

/** Merges one's own changes since `base` with those of somebody else. */
export const merge = (base: Form, mine: Form, theirs: Form): Merged => {
  const form: Record<string, string> = {}
  const conflicts: Array<string> = []
  for (const name of new Set([...Object.keys(mine), ...Object.keys(theirs)])) {
    const isMine = !isSame(name, mine, base)
    if (isMine && !isSame(name, theirs, base) && !isSame(name, theirs, mine)) conflicts.push(name)
    const merged = isMine ? mine[name] : theirs[name]
    if (merged !== undefined) form[name] = merged
  }
  return { form, conflicts }
}

/** Returns an object that was typed as JSON; undefined while it is none. */
export const objectIn = (text: string | undefined): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(text ?? "")
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined
  } catch {
    return undefined
  }
}
