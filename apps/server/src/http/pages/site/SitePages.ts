import * as Html from "../reference/Html.ts"
import { pageShell } from "../reference/pageShell.ts"
import type { Ports } from "../reference/scriptOf.ts"
import type { DocsPage, Shelf } from "./Library.ts"
import * as Library from "./Library.ts"
import * as Markdown from "./Markdown.ts"
import { nearestPages } from "./nearestPages.ts"
import * as SearchIndex from "./SearchIndex.ts"

const GROUPS: ReadonlyArray<Shelf> = [
  "Start",
  "Send and receive",
  "Frameworks",
  "Clients",
  "Operate",
  "Reference",
  "Understand",
]

/** Groups that are folded, because a reader wants one page of them or none, with what their line says. */
const FOLDED: Partial<Record<Shelf, string>> = {
  Frameworks: "Frameworks: a first mail from each",
  Understand: "Understand: for those who change Waybill",
}

export interface Site {
  readonly pages: ReadonlyArray<DocsPage>
  readonly linksOf: (page: DocsPage) => Markdown.LinkOf
  readonly ports: Ports
}

const link = (url: string, text: string, isCurrent = false): string =>
  `<a href="${Html.escaped(url)}"${isCurrent ? ' aria-current="page"' : ""}>${Html.escaped(text)}</a>`

/** Pages of a group, without those that another one lists: parts of pages, and decisions. */
const listed = (pages: ReadonlyArray<DocsPage>, group: Shelf): ReadonlyArray<DocsPage> =>
  pages.filter((page) => page.group === group && !page.isPart && !page.slug.startsWith("decisions/"))

const navigation = ({ pages }: Site, slug: string): string => {
  const current = pages.find((page) => page.slug === slug)
  const isListed = current !== undefined && listed(pages, current.group).includes(current)
  return GROUPS.map((group) => {
    const items = listed(pages, group).map((page) => {
      // The page that lists another one stands for it.
      const isCurrent = slug === page.slug || (!isListed && slug.startsWith(`${page.slug}/`))
      return `<li>${link(`/docs/${page.slug}`, page.title, isCurrent)}</li>`
    })
    const list = `<ul>${items.join("\n")}</ul>`
    if (items.length === 0) return ""
    if (FOLDED[group] === undefined) return `<h2>${group}</h2>\n${list}`
    return `<details class="group"${current?.group === group ? " open" : ""}><summary>${group}</summary>${list}</details>`
  }).join("\n")
}

const shell = (site: Site, slug: string, title: string, content: string, query = ""): string =>
  pageShell({ title, navigation: navigation(site, slug), content, query, ports: site.ports })

const MIN_SECTIONS = 3

/** Returns the page of a document, with the list of its sections. */
export const documentPage = (site: Site, page: DocsPage): string => {
  const blocks = Markdown.parse(page.markdown)
  const sections = Markdown.headings(blocks).filter(({ level }) => level === 2)
  const contents =
    page.isPart || sections.length < MIN_SECTIONS
      ? ""
      : `<details class="contents"><summary>On this page</summary><ul>${sections.map(({ id, text }) => `<li>${link(`#${id}`, text)}</li>`).join("")}</ul></details>`
  const [first, ...rest] = blocks
  const links = site.linksOf(page)
  const head = first === undefined ? "" : Markdown.html([first], links)
  const source = `<p class="source">${link(`/docs/${page.slug}.md`, "This page as Markdown")}</p>`
  return shell(site, page.slug, page.title, `${head}\n${contents}\n${Markdown.html(rest, links)}\n${source}`)
}

/** Returns the first page: all pages with what each is about. */
export const frontPage = (site: Site): string => {
  const groups = GROUPS.map((group) => {
    const items = listed(site.pages, group).map(
      (page) => `<dt>${link(`/docs/${page.slug}`, page.title)}</dt><dd>${Html.escaped(Library.summaryOf(page))}</dd>`,
    )
    const list = `<dl class="quiet">${items.join("\n")}</dl>`
    if (items.length === 0) return ""
    const folded = FOLDED[group]
    return folded === undefined
      ? `<h2>${group}</h2>\n${list}`
      : `<details><summary>${folded}</summary>${list}</details>`
  })
  const tasks = TASKS.map(
    ([slug, task, about]) => `<li><a href="/docs/${slug}">${task}<small>${about}</small></a></li>`,
  )
  const intro = `<h1>Waybill documentation</h1>
<p>Choose a task, read the ${link("/docs/api", "API reference")}, or search for an endpoint, an error reason, an event, a
setting or a command.</p>
<ul class="cards">${tasks.join("\n")}</ul>`
  const programs = `<p class="source">For programs: ${link("/llms.txt", "llms.txt")}, ${link("/llms-full.txt", "llms-full.txt")}, and
every page as Markdown under its address with <code>.md</code>.</p>`
  return shell(site, "", "Start", [intro, ...groups, programs].join("\n"))
}

/** Tasks that most readers come for, in the order in which they need it. */
const TASKS: ReadonlyArray<readonly [slug: string, task: string, about: string]> = [
  ["start", "Start the service", "Install, sign in and send a first email."],
  ["sending", "Send email", "Schedule, repeat, attach and suppress."],
  ["operating/first-mail", "Set up a domain", "DKIM, SPF and DMARC, with your DNS provider."],
  ["webhooks", "Receive webhooks", "Learn of deliveries, bounces and complaints."],
  ["inbound", "Receive email", "Addresses, routes and replies."],
  ["templates", "Use templates", "Liquid with versions, checked when you save."],
  ["coming-from", "Move from another service", "Resend, Postmark, SendGrid or Postal."],
  ["operating/first-hours", "Run it in production", "Backups, alerts and limits of a new instance."],
]

const EXCERPT_CHARS = 180
/** Characters of an excerpt before the first word that was asked for. */
const LEAD_CHARS = 50

/** Returns a part of a text without cut words, around the first word that was asked for, with these words marked. */
const excerptOf = (text: string, query: string): string => {
  const line = text.trim().replaceAll(/\s+/gu, " ")
  const words = query
    .slice(0, SearchIndex.MAX_QUERY_CHARS)
    .split(/[^\p{L}\p{N}_.]+/u)
    .filter((word) => word.length > 2)
  const asked = words.map((word) => word.replaceAll(".", "\\."))
  const hit = asked.length === 0 ? undefined : new RegExp(`(?<![\\p{L}\\p{N}])(?:${asked.join("|")})`, "giu")
  const first = hit === undefined ? -1 : line.search(hit)
  const start = first <= LEAD_CHARS ? 0 : line.indexOf(" ", first - LEAD_CHARS) + 1
  const end = line.length - start <= EXCERPT_CHARS ? line.length : line.lastIndexOf(" ", start + EXCERPT_CHARS)
  const shown = `${start === 0 ? "" : "… "}${line.slice(start, Math.max(end, start))}${end === line.length ? "" : " …"}`
  // Words are marked between the characters that HTML escapes, so that none is marked within a reference such as `&amp;`.
  return hit === undefined
    ? Html.escaped(shown)
    : shown
        .split(new RegExp(`(${hit.source})`, "giu"))
        .map((part, nth) => (nth % 2 === 1 ? `<mark>${Html.escaped(part)}</mark>` : Html.escaped(part)))
        .join("")
}

const aboutOf = ({ kind, within }: SearchIndex.Entry): string => `${SearchIndex.NAMES[kind]} · ${within}`

const MAX_SUGGESTIONS = 8

/** Returns what a reader must know of a result: that it has none, or that it is of other words than those asked for. */
const noteOf = (query: string, { entries, mended, missing = [] }: SearchIndex.Found): string =>
  entries.length === 0
    ? `No results for “${query}”. These pages may help:`
    : missing.length > 0
      ? `Nothing fits well: no page has ${missing.map((word) => `“${word}”`).join(" or ")}. With the other words:`
      : mended === undefined
        ? ""
        : `No page has “${query}”. Results for “${mended}”:`

const nearTo = ({ pages }: Site, query: string) =>
  nearestPages(pages, query).map(({ group, slug, title }) => ({
    title,
    url: `/docs/${slug}`,
    about: `page · ${group}`,
  }))

/** Returns the first results, or near pages where there is none, for the list below the search field. */
export const suggestions = (site: Site, query: string, found: SearchIndex.Found) => {
  if (query.trim() === "") return { note: "", count: 0, places: [] }
  const shown = found.entries.slice(0, MAX_SUGGESTIONS)
  const places = shown.map((entry) => ({ title: entry.title, url: entry.url, about: aboutOf(entry) }))
  return {
    note: noteOf(query.trim(), found),
    count: places.length,
    places: places.length === 0 ? nearTo(site, query) : places,
  }
}

/** Returns the page of search results. */
export const searchPage = (site: Site, query: string, found: SearchIndex.Found): string => {
  const asked = found.mended ?? query
  const item = ({ about, title, url }: ReturnType<typeof nearTo>[number], text = "") =>
    `<li>${link(url, title)} <small>${Html.escaped(about)}</small>${text}</li>`
  const isAsked = query.trim() !== ""
  const items = found.entries.map((entry) =>
    item({ ...entry, about: aboutOf(entry) }, `<p>${excerptOf(entry.text, asked)}</p>`),
  )
  const near = isAsked && items.length === 0 ? nearTo(site, query).map((place) => item(place)) : []
  const count = items.length === 0 ? "" : `${items.length} found`
  const note = isAsked ? `${Html.escaped(noteOf(query.trim(), found))} ${count}` : "Enter what you look for."
  return shell(
    site,
    "search",
    "Search",
    `<h1>Search</h1>\n<p>${note.trim()}</p>\n<ol class="found">${[...items, ...near].join("\n")}</ol>`,
    query,
  )
}

/** Returns the page of an address that has none. */
export const missingPage = (site: Site): string =>
  shell(
    site,
    "",
    "No such page",
    `<h1>No such page</h1>\n<p>Search for it, or go ${link("/docs", "to all pages")}.</p>`,
  )

/** Returns the list of pages for language models, by https://llmstxt.org. */
export const llmsText = ({ pages }: Site): string => {
  const groups = GROUPS.map((group) => {
    const items = pages
      .filter((page) => page.group === group)
      .map((page) => `- [${page.title}](/docs/${page.slug}.md): ${Library.summaryOf(page)}`)
    return items.length === 0 ? "" : `## ${group}\n\n${items.join("\n")}`
  })
  return `# Waybill\n\n> Self-hosted transactional email on Postgres, with a complete history of every message.\n\n- [API reference](/docs/api), [OpenAPI document](/openapi.json)\n\n${groups.join("\n\n")}\n`
}

/** Returns the text of all pages that users and operators need. */
export const fullText = ({ pages }: Site): string =>
  pages
    .filter(({ group, isPart }) => group !== "Understand" && !isPart)
    .map(({ markdown, slug }) => `<!-- /docs/${slug}.md -->\n\n${markdown.trim()}\n`)
    .join("\n")
