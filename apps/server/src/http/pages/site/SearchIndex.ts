import type { Contract } from "../reference/Contract.ts"
import * as Html from "../reference/Html.ts"
import type { DocsPage, Shelf } from "./Library.ts"
import * as Markdown from "./Markdown.ts"

export type Kind = "page" | "section" | "endpoint" | "error" | "event" | "setting" | "command" | "entry"

/** Something that can be found, and where it is. */
export interface Entry {
  readonly kind: Kind
  readonly title: string
  readonly url: string
  /** Title of the page. */
  readonly within: string
  readonly text: string
  /** Words by which it is found as by its title. */
  readonly names?: string
  /** Weight of its group; 1 if left out. */
  readonly weight?: number
}

interface Scored {
  readonly entry: Entry
  /** Weight of each word. */
  readonly words: ReadonlyMap<string, number>
  readonly length: number
}

/** Names of the kinds, for people, and words by which they are found. */
export const NAMES: Readonly<Record<Kind, string>> = {
  page: "page",
  section: "section",
  endpoint: "endpoint",
  error: "error reason",
  event: "event",
  setting: "setting",
  command: "command",
  entry: "table",
}

export interface SearchIndex {
  readonly search: (query: string) => ReadonlyArray<Entry>
}

export const MAX_QUERY_CHARS = 200
/** Words of a query that are looked for: each costs a look at every page. */
const MAX_WORDS = 20
/** Weights: a word of the title says more than one of the text. */
const TITLE = 6
const PAGE_TITLE = 2
/** Parameters of BM25. */
const [SATURATION, LENGTH] = [1.2, 0.6]
const MAX_RESULTS = 20
/** Most people use Waybill and do not change it, and the pages of all clients say the same. */
const GROUPS: Partial<Record<Shelf, number>> = { Understand: 0.4, Clients: 0.7 }
/** A question in words wants what to do; an error reason is asked for by its name, its status or the word. */
const ERROR_ASKED = /[a-z]_[a-z]|\b[45]\d\d\b|\b(?:errors?|reasons?|invalid|refused|why)\b/iu
const ERROR_OF_QUESTION = 0.35
/** A query that is the whole title of an entry comes before all others. */
const NAMED = 100

/** A thing that has a name of its own is wanted more often than a mention of it. */
const WEIGHTS: Readonly<Record<Kind, number>> = {
  page: 1.25,
  section: 1,
  endpoint: 1.1,
  error: 1.1,
  event: 1,
  setting: 1.1,
  command: 1.2,
  entry: 0.6,
}

const STOP_WORDS: ReadonlySet<string> = new Set(
  "a an and are as at be by can do does for from how i if in into is it its me my not of on one or so that the their them then there this to up us use was we what when where which why will with you your".split(
    " ",
  ),
)

/** Brings the forms of a word together: `verifies`, `verified` and `verifying` with `verify`. */
const stem = (word: string): string =>
  word.length < 5 || /\d/u.test(word)
    ? word.replace(/(?<=..[^s])s$/u, "")
    : word
        .replace(/(?:ies|ied)$/u, "y")
        .replace(/(?:ing|ed|es|s|ion)$/u, "")
        .replace(/(.)\1$/u, "$1")
        .replace(/(?:at|e)$/u, "")

/** Words that people use, and those of the documents. */
const SYNONYMS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "2fa": "factor",
    apikey: "key",
    attach: "attachment",
    dump: "backup",
    env: "setting",
    environment: "setting",
    helm: "kubernet",
    hook: "webhook",
    k8s: "kubernet",
    later: "schedul",
    login: "sign",
    mfa: "factor",
    prometheus: "metric",
    ratelimit: "rate",
    spam: "complaint",
    retry: "repe",
    setup: "set",
    throttle: "rate",
    token: "key",
    undo: "cancel",
    unsub: "unsubscrib",
  }),
)

const wordsOf = (text: string): ReadonlyArray<string> => {
  const lower = text.toLowerCase()
  const whole = lower.match(/[a-z0-9]+(?:[_.-][a-z0-9]+)+/gu) ?? []
  const parts = (lower.match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !STOP_WORDS.has(word))
  // `Next.js` is found as `nextjs`, too.
  const joined = whole.map((word) => word.replaceAll(/[_.-]/gu, ""))
  return [...whole, ...joined, ...parts.map(stem).map((word) => SYNONYMS.get(word) ?? word)]
}

/** Makes the index of all pages and of the endpoints of the contract. */
export const make = (pages: ReadonlyArray<DocsPage>, contract: Contract): SearchIndex => {
  const entries = [...pages.flatMap(entriesOf), ...endpoints(contract)].map(scored)
  const counts = new Map<string, number>()
  for (const { words } of entries) for (const word of words.keys()) counts.set(word, (counts.get(word) ?? 0) + 1)
  const average = entries.reduce((sum, { length }) => sum + length, 0) / Math.max(1, entries.length)
  const rarity = (word: string): number => Math.log(1 + entries.length / (1 + (counts.get(word) ?? 0)))
  const vocabulary = [...counts.keys()]

  const search = (query: string): ReadonlyArray<Entry> => {
    const asked = [...new Set(wordsOf(query.slice(0, MAX_QUERY_CHARS)))].slice(0, MAX_WORDS)
    const name = query.trim().toLowerCase()
    const isErrorAsked = ERROR_ASKED.test(query)
    // A word that nothing has may be the begin of one.
    const forms = asked.map((word) =>
      counts.has(word) || word.length < 3 ? [word] : vocabulary.filter((known) => known.startsWith(word)).slice(0, 20),
    )
    const found = entries.flatMap(({ entry, length, words }) => {
      let score = 0
      let matched = 0
      for (const alternatives of forms) {
        const best = Math.max(
          0,
          ...alternatives.map((word) => {
            const weight = words.get(word) ?? 0
            const norm = SATURATION * (1 - LENGTH + (LENGTH * length) / average)
            return (rarity(word) * weight * (SATURATION + 1)) / (weight + norm)
          }),
        )
        if (best > 0) matched++
        score += best
      }
      if (matched === 0) return []
      const isNamed = entry.title.toLowerCase() === name
      const share = (matched / forms.length) ** 1.3
      const isAside = entry.kind === "error" && !isErrorAsked && !isNamed
      const weight = WEIGHTS[entry.kind] * (entry.weight ?? 1) * (isAside ? ERROR_OF_QUESTION : 1)
      return [{ entry, score: (score * share + (isNamed ? NAMED : 0)) * weight }]
    })
    const ranked = found
      .toSorted((one, other) => other.score - one.score || one.entry.url.localeCompare(other.entry.url, "en"))
      .map(({ entry }) => entry)
    // The clients of all languages have the same sections, of which the first is shown.
    const seen = new Set<string>()
    const isShown = ({ title, url }: Entry) => {
      if (!isOfClient(url)) return true
      const isFirst = !seen.has(title)
      seen.add(title)
      return isFirst
    }
    return ranked.filter(isShown).slice(0, MAX_RESULTS)
  }
  return { search }
}

const isOfClient = (url: string): boolean => url.startsWith("/docs/clients/")

const scored = (entry: Entry): Scored => {
  const words = new Map<string, number>()
  const add = (text: string, weight: number): number => {
    const list = wordsOf(text)
    for (const word of list) words.set(word, (words.get(word) ?? 0) + weight)
    return list.length
  }
  // The options of a command are mentions, not its name.
  add(`${entry.title.split(" [")[0]} ${entry.names ?? ""}`, TITLE)
  add(`${entry.within} ${NAMES[entry.kind]}`, PAGE_TITLE)
  return { entry, words, length: add(entry.text, 1) }
}

/** The page, each section of it, and each row of a table that begins with a name, or with a task of several words. */
const entriesOf = (page: DocsPage): ReadonlyArray<Entry> => {
  const url = `/docs/${page.slug}`
  const within = page.title
  if (page.isPart) {
    const kind = page.group === "Errors" ? "error" : "event"
    const said = page.markdown
      .replaceAll(/^```[^]*?^```$/gmu, "")
      .split(/^## (?:Handle|Receive)| (?:Sent as|Not sent) /mu)[0]
    const text = Markdown.parse(said ?? "")
      .map(textOf)
      .join(" ")
    return [{ kind, title: page.title, url, within: page.group, text }]
  }
  const entries: Array<Entry> = []
  const names = page.slug.split("/").at(-1) ?? ""
  let section: Entry = { kind: "page", title: page.title, names, url, within: page.group, text: "" }
  const isOfParts = page.slug === "errors" || page.slug === "events"
  for (const block of Markdown.parse(page.markdown)) {
    if (block.kind === "heading" && block.level > 1 && !(isOfParts && block.level > 2)) {
      entries.push(section)
      const title = Markdown.plain(block.text)
      section = { kind: "section", title, url: `${url}#${Markdown.anchor(block.text)}`, within, text: "" }
    } else if (!isOfParts || block.kind === "paragraph")
      section = { ...section, text: `${section.text} ${textOf(block)}` }
    if (block.kind === "table" && !isOfParts)
      for (const cells of block.rows) {
        const name = Markdown.nameOfRow(cells)
        const title = name ?? Markdown.plain(cells[0] ?? "")
        if (name !== undefined || /\S \S+ \S/u.test(title))
          entries.push({
            kind: kindOfRow(page.slug, title),
            title,
            url: name === undefined ? section.url : `${url}#${Markdown.idOfName(name)}`,
            within: section.kind === "page" ? within : `${within}: ${section.title}`,
            text: cells.map(Markdown.plain).join(" "),
          })
      }
  }
  const weight = GROUPS[page.group] ?? 1
  return [...entries, section].map((entry) => ({ ...entry, weight }))
}

const kindOfRow = (slug: string, title: string): Kind =>
  slug === "configuration" ? "setting" : title.startsWith("waybill ") ? "command" : "entry"

const textOf = (block: Markdown.Block): string => {
  switch (block.kind) {
    case "heading":
      return ""
    case "paragraph":
      return Markdown.plain(block.text)
    case "fence":
      return block.lines.join(" ")
    case "table":
      return block.rows.flat().map(Markdown.plain).join(" ")
    case "list":
      return block.items.flat().map(textOf).join(" ")
  }
}

const endpoints = ({ paths }: Contract): ReadonlyArray<Entry> =>
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { description = "", operationId, summary = operationId }]): Entry => ({
      kind: "endpoint",
      title: summary,
      url: `/docs/api#${Html.anchor(operationId)}`,
      within: `${method.toUpperCase()} ${path}`,
      text: Markdown.plain(description),
    })),
  )
