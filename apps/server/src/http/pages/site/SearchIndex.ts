import { nearestName } from "@waybill/domain/values/nearestName"
import * as Table from "@waybill/domain/values/Table"
import type { Contract } from "../reference/Contract.ts"
import * as Html from "../reference/Html.ts"
import * as ReferencePage from "../reference/ReferencePage.ts"
import type { DocsPage, Shelf } from "./Library.ts"
import * as Markdown from "./Markdown.ts"
import * as SearchNames from "./SearchNames.ts"
import * as SearchWords from "./SearchWords.ts"

export type Kind = "page" | "section" | "endpoint" | "error" | "event" | "setting" | "command" | "entry"

/** Something that can be found, and where it is. */
export interface Entry {
  readonly kind: Kind
  readonly title: string
  readonly url: string
  /** Title of the page. */
  readonly within: string
  readonly text: string
  /** Names by which it is found as by its title. */
  readonly names?: ReadonlyArray<string>
  /** Weight of its group; 1 if left out. */
  readonly weight?: number
}

interface Scored {
  readonly entry: Entry
  /** Weight of each word. */
  readonly words: ReadonlyMap<string, number>
  /** Words of its title, and of the last part of the address of a page. */
  readonly titles: ReadonlyArray<ReadonlySet<string>>
  /** Words of each name that people type for it, of those of several words. */
  readonly named: ReadonlyArray<ReadonlySet<string>>
  /** Words of the title of its page. */
  readonly around: ReadonlySet<string>
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

export interface Found {
  readonly entries: ReadonlyArray<Entry>
  /** The query with its misspelt words mended; undefined if it has none. */
  readonly mended?: string
  /** Words of the query that no place has, in the order of the query; undefined if it has none. */
  readonly missing?: ReadonlyArray<string>
}

export interface SearchIndex {
  /** Finds what a query asks for. The last word of one that is still typed may be the beginning of another. */
  readonly search: (query: string, isTyped?: boolean) => Found
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
/** So is an event, which is named like the mail that it tells of. */
const EVENT_ASKED = /[a-z]\.[a-z]|\b(?:events?|payload|webhooks?)\b/iu
const ASIDE = 0.35
/** The own pages of errors and events say better what their lists have. */
const LIST_OF_PARTS = 0.5
/** A word that is near the one asked for says less than the word itself. */
const RELATED_WEIGHT = 0.8
/** Misspelt words of a query that are mended: each is compared with every word. */
const MAX_MENDED = 3
/** Shortest word that is mended: one letter of a shorter one is most of it. */
const MIN_MENDED_CHARS = 4
/** Words that begin as a word of the query does. */
const MAX_BEGUN = 20
/** Places that are searched for the form of a mended word. */
const MAX_FORMS = 50
/** Words that begin a question and say nothing of what is sought. */
const QUESTION =
  /^(?:(?:an?|are|can|could|do|does|have|how|i|is|it|my|should|supports?|the|there|to|we|what|where|you)\s+)+/iu
/** A place whose whole title, or the end of whose address, is asked for comes before all others. */
const NAMED = 100
/** A name that is part of what is asked for counts by its share of it, which is at least half. */
const PART_NAMED = 50
const MIN_PART_OF_QUERY = 0.5

/** A thing that has a name of its own is wanted more often than a mention of it. */
const WEIGHTS: Readonly<Record<Kind, number>> = {
  page: 1.4,
  section: 1.25,
  endpoint: 1,
  error: 1.1,
  event: 1,
  setting: 1.1,
  command: 1.1,
  entry: 0.5,
}

/** Makes the index of all pages and of the endpoints of the contract. */
export const make = (pages: ReadonlyArray<DocsPage>, contract: Contract): SearchIndex => {
  const entries = [...pages.flatMap(entriesOf), ...reference(contract), ...endpoints(contract)].map(scored)
  const counts = new Map<string, number>()
  for (const { words } of entries) for (const word of words.keys()) counts.set(word, (counts.get(word) ?? 0) + 1)
  const average = entries.reduce((sum, { length }) => sum + length, 0) / Math.max(1, entries.length)
  const rarity = (word: string): number => Math.log(1 + entries.length / (1 + (counts.get(word) ?? 0)))
  // The most frequent first: of two words that are equally near, it is meant more often.
  const vocabulary = [...counts].toSorted(([, one], [, other]) => other - one).map(([word]) => word)

  /** Returns the form of a word in the documents that is nearest to the one that was typed. */
  const formOf = (stem: string, typed: string): string => {
    const having = entries.filter(({ words }) => words.has(stem)).slice(0, MAX_FORMS)
    const words = having.flatMap(
      ({ entry }) => `${entry.title} ${entry.text}`.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [],
    )
    const forms = [...new Set(words)].filter((word) => SearchWords.of(word).includes(stem))
    return nearestName(typed, forms) ?? forms[0] ?? stem
  }

  const search = (query: string, isTyped = false): Found => {
    const asked = [...new Set(SearchWords.of(query.slice(0, MAX_QUERY_CHARS)))].slice(0, MAX_WORDS)
    const asNames = new Set([query, query.trim().replace(QUESTION, "")].map(nameOf))
    const asides = new Set<Kind>()
    if (!ERROR_ASKED.test(query)) asides.add("error")
    if (!EVENT_ASKED.test(query)) asides.add("event")
    const mended = new Map<string, string | undefined>()
    const knownAs = (word: string, nth: number): ReadonlyArray<string> => {
      const isBegun = isTyped && nth === asked.length - 1
      if ((counts.has(word) && !isBegun) || SearchWords.RELATED.has(word) || word.length < 3) return [word]
      // A word that nothing has may be the beginning of one, or misspelt.
      const begun = vocabulary.filter((known) => known.startsWith(word)).slice(0, MAX_BEGUN)
      if (begun.length > 0 || word.length < MIN_MENDED_CHARS || mended.size >= MAX_MENDED) return begun
      // The first letter is rarely mistyped: "dark" is no "mark".
      const nearest = nearestName(
        word,
        vocabulary.filter((known) => known[0] === word[0]),
      )
      mended.set(word, nearest)
      return nearest === undefined ? begun : [nearest]
    }
    const forms = asked.map(knownAs).map((known) => {
      const related = known.flatMap((word) => SearchWords.RELATED.get(word) ?? [])
      return { known, related, all: [...known, ...related] }
    })
    const found = entries.flatMap(({ around, entry, length, named, titles, words }) => {
      const norm = SATURATION * (1 - LENGTH + (LENGTH * length) / average)
      const said = (word: string): number => {
        const weight = words.get(word) ?? 0
        return (rarity(word) * weight * (SATURATION + 1)) / (weight + norm)
      }
      const scores = forms.map(({ known, related }) =>
        Math.max(0, ...known.map(said), ...related.map((word) => said(word) * RELATED_WEIGHT)),
      )
      const matched = scores.filter((score) => score > 0).length
      if (matched === 0) return []
      // A title that says what was asked for, and little else, counts a second time, with what its page is about.
      const sayings = titles.map((title) => {
        const isIn = (set: ReadonlySet<string>) => forms.map(({ all }) => all.some((word) => set.has(word)))
        const inTitle = isIn(title)
        const share = inTitle.filter(Boolean).length / Math.max(1, title.size)
        const inAround = isIn(around)
        const inBoth = scores.filter((_, nth) => inTitle[nth] || inAround[nth])
        return (sum(inBoth) * Math.min(1, share) * inBoth.length) / forms.length
      })
      // A row is often named by a common word, such as `logs`, which is the subject of a page.
      const isNamed =
        entry.kind !== "entry" && [entry.title, ...(entry.names ?? [])].some((name) => asNames.has(nameOf(name)))
      const share = entry.kind === "entry" ? 0 : Math.max(0, ...named.map((name) => shareOf(name, forms)))
      const naming = isNamed ? NAMED : share < MIN_PART_OF_QUERY ? 0 : PART_NAMED * share
      const score = (sum(scores) + Math.max(...sayings)) * (matched / forms.length) ** 1.3 + naming
      const isAside = asides.has(entry.kind) && !isNamed
      return [{ entry, score: score * WEIGHTS[entry.kind] * (entry.weight ?? 1) * (isAside ? ASIDE : 1) }]
    })
    const ranked = found
      .toSorted((one, other) => other.score - one.score || one.entry.url.localeCompare(other.entry.url, "en"))
      .map(({ entry }) => entry)
    // A place is shown once, and of the clients of all languages, which have the same sections, the first.
    const seen = new Set<string>()
    const isShown = ({ title, url }: Entry) => {
      const place = isOfClient(url) ? title : url
      const isFirst = !seen.has(place)
      seen.add(place)
      return isFirst
    }
    const shown = ranked.filter(isShown).slice(0, MAX_RESULTS)
    const isMissing = (word: string) =>
      SearchWords.of(word).some((each) => mended.has(each) && mended.get(each) === undefined)
    const missing = (query.match(/[\p{L}\p{N}]+/gu) ?? []).filter(isMissing)
    const corrected = query.trim().replaceAll(/[\p{L}\p{N}]+/gu, (word) => {
      const nearest = SearchWords.of(word)
        .map((each) => mended.get(each))
        .find((each) => each !== undefined)
      return nearest === undefined ? word : formOf(nearest, word)
    })
    return {
      entries: shown,
      ...(corrected === query.trim() ? {} : { mended: corrected }),
      ...(missing.length === 0 ? {} : { missing }),
    }
  }
  return { search }
}

const namesOf = (url: string): ReadonlyArray<string> => Table.at(SearchNames.NAMES, url) ?? []

/** Returns a name as people type it: an error reason without its underscores. */
const nameOf = (text: string): string => text.trim().toLowerCase().replaceAll("_", " ")

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, number) => total + number, 0)

/** Share of the words asked for that a name has, if all of its own are asked for. */
const shareOf = (
  name: ReadonlySet<string>,
  asked: ReadonlyArray<{ readonly known: ReadonlyArray<string> }>,
): number => {
  const met = asked.filter(({ known }) => known.some((word) => name.has(word))).length
  return met < name.size ? 0 : met / asked.length
}

const isOfClient = (url: string): boolean => url.startsWith("/docs/clients/")

const scored = (entry: Entry): Scored => {
  const words = new Map<string, number>()
  const add = (text: string, weight: number): number => {
    const list = SearchWords.of(text)
    for (const word of list) words.set(word, (words.get(word) ?? 0) + weight)
    return list.length
  }
  // The options of a command are mentions, not its name.
  const title = entry.title.split(" [")[0] ?? ""
  const names = [title, ...(entry.names ?? [])]
  add([...new Set(SearchWords.of(names.join(" ")))].join(" "), TITLE)
  add(`${entry.within} ${NAMES[entry.kind]}`, PAGE_TITLE)
  const titles = names.map((each) => new Set(SearchWords.of(each)))
  const named = namesOf(entry.url)
    .map((each) => new Set(SearchWords.of(each)))
    .filter(({ size }) => size > 1)
  return { entry, words, titles, named, around: new Set(SearchWords.of(entry.within)), length: add(entry.text, 1) }
}

/** The page, each section of it, and each row of a table that begins with a name, or with a task of several words. */
const entriesOf = (page: DocsPage): ReadonlyArray<Entry> => {
  const url = `/docs/${page.slug}`
  if (page.isPart) {
    const [kind, within] = page.slug.startsWith("errors/")
      ? (["error", "Errors"] as const)
      : (["event", "Events"] as const)
    const said = page.markdown
      .replaceAll(/^```[^]*?^```$/gmu, "")
      .split(/^## (?:Handle|Receive)|^Guide: | (?:Sent as|Not sent) /mu)[0]
    const text = Markdown.parse(said ?? "")
      .map(textOf)
      .join(" ")
    return [{ kind, title: page.title, url, within, text, names: namesOf(url) }]
  }
  const within = page.title
  const entries: Array<Entry> = []
  const names = page.slug.split("/").slice(-1)
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
  const isListed = ({ kind }: Entry) => isOfParts && kind === "section"
  return [...entries, section].map((entry) => ({
    ...entry,
    // A row has the address of its section.
    names: [...(entry.names ?? []), ...(entry.kind === "entry" ? [] : namesOf(entry.url))],
    weight: isListed(entry) ? LIST_OF_PARTS : weight,
  }))
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

/** The guides say more of a thing than the list of its endpoints. */
const REFERENCE = { kind: "page", within: "API reference", weight: 0.6 } as const

/** The overview of the reference, and the page of each group of endpoints. */
const reference = ({ info, tags }: Contract): ReadonlyArray<Entry> => [
  { ...REFERENCE, title: "API reference", url: "/docs/api", text: info.description ?? "", names: namesOf("/docs/api") },
  ...tags.map(({ description = "", name }): Entry => {
    const url = ReferencePage.addressOf(name)
    return { ...REFERENCE, title: `${name} API`, url, text: description, names: namesOf(url) }
  }),
]

const endpoints = ({ paths }: Contract): ReadonlyArray<Entry> =>
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(
      ([
        method,
        {
          description = "",
          operationId,
          summary = operationId,
          tags: [tag = ""],
        },
      ]): Entry => ({
        kind: "endpoint",
        title: summary,
        url: `${ReferencePage.addressOf(tag)}#${Html.anchor(operationId)}`,
        within: `${method.toUpperCase()} ${path}`,
        text: Markdown.plain(description),
        names: namesOf(`${ReferencePage.addressOf(tag)}#${Html.anchor(operationId)}`),
      }),
    ),
  )
