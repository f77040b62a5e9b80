import { valueOr } from "@waybill/runtime/flow/valueOr"
import { readdirSync, readFileSync } from "node:fs"
import { posix } from "node:path"
import { fileURLToPath } from "node:url"
import type { Contract } from "../reference/Contract.ts"
import type { ErrorReason } from "../reference/ReferencePage.ts"
import * as Markdown from "./Markdown.ts"
import * as Samples from "./Samples.ts"

/** Root of the checkout or of the package, which has the documents. */
const ROOT = fileURLToPath(new URL("../../../../../../", import.meta.url))

export type Shelf = "Start" | "Send and receive" | "Frameworks" | "Clients" | "Operate" | "Reference" | "Understand"

/** A page of the site. */
export interface DocsPage {
  /** Path below `/docs/`. */
  readonly slug: string
  /** Path of the document that it is made of, which its links are relative to. */
  readonly file: string
  readonly group: Shelf
  readonly title: string
  readonly markdown: string
  /** Left out of the list of pages, because a page of its group lists it. */
  readonly isPart: boolean
}

/** Pages for those who change Waybill itself. */
const UNDERSTAND: ReadonlySet<string> = new Set([
  "architecture",
  "benchmarks",
  "concepts",
  "measure",
  "recipes",
  "roadmap",
  "security",
])
/** Pages in the order in which a reader needs them; the others follow by their titles. */
const ORDER: ReadonlyArray<string> = `
  start quickstarts
  sending webhooks inbound templates api-keys coming-from smtp test-mode testing test-clocks tracking unsubscribe
  domain-reports receipts command-line mcp compatibility webhook-formats
  operating/first-mail operating/first-hours operating/install configuration operating/transports operating/backup
  operating/upgrade operating/monitoring operating/incidents operating/command-line
  errors events limits
  concepts architecture recipes measure security benchmarks roadmap decisions
`.split(/\s+/u)
const FOLDERS: ReadonlyArray<string> = ["docs", "docs/quickstarts", "docs/operating", "docs/decisions"]
const OPERATE: ReadonlySet<string> = new Set(["configuration", "scaling"])
const REFERENCE: ReadonlySet<string> = new Set(["errors", "events", "limits"])

/** Folders of packages, with the last part of the address and the title of their pages. */
const CLIENTS: Readonly<Record<string, readonly [name: string, title: string]>> = {
  "packages/client": ["typescript", "TypeScript"],
  "packages/client-python": ["python", "Python"],
  "packages/client-go": ["go", "Go"],
  "packages/client-php": ["php", "PHP"],
  "packages/client-ruby": ["ruby", "Ruby"],
  "packages/testing": ["testing", "Test suites"],
  "packages/nodemailer-transport": ["nodemailer", "Nodemailer"],
  "packages/redirect": ["redirect", "Redirected programs"],
  "packages/verify": ["verify", "Checks of receipts"],
}
/** Files that pages link to and an operator loads into another program, with their types. */
const FILES: Readonly<Record<string, string>> = {
  "docs/operating/alerts.yaml": "application/yaml",
  "docs/operating/grafana-dashboard.json": "application/json",
}
const RECEIPT_PAGE = "packages/verify/verify.html"

const readIn =
  (root: string) =>
  (file: string): string | undefined =>
    valueOr(() => readFileSync(posix.join(root, file), "utf8"), undefined)

/** Returns the page that checks receipts; none in an incomplete package. */
export const receiptPage = (): ReadonlyArray<string> => {
  const page = readIn(ROOT)(RECEIPT_PAGE)
  return page === undefined ? [] : [page]
}

/** Returns the files, by their addresses; none that is missing in an incomplete package. */
export const files = (): ReadonlyArray<{ path: string; text: string; type: string }> =>
  Object.entries(FILES).flatMap(([file, type]) => {
    const text = readIn(ROOT)(file)
    return text === undefined ? [] : [{ path: `/${file}`, text, type }]
  })

/** Returns every page. Documents that are missing, as in an incomplete package, are left out. */
export const load = (contract: Contract, root: string = ROOT): ReadonlyArray<DocsPage> => {
  const read = readIn(root)
  const folder = (path: string): ReadonlyArray<string> => {
    const names = valueOr(() => readdirSync(posix.join(root, path)), [])
    return names.flatMap((name) => (name.endsWith(".md") ? [posix.join(path, name)] : []))
  }
  const documents = FOLDERS.flatMap(folder).toSorted()
  const pages = documents.flatMap((file) => pageOf(file, file.slice("docs/".length, -".md".length), read(file)))
  const clients = Object.entries(CLIENTS).flatMap(([path, [name, title]]) =>
    pageOf(`${path}/README.md`, `clients/${name}`, read(`${path}/README.md`)).map((page) => ({ ...page, title })),
  )
  const said = JSON.parse(read("docs/errors.json") ?? "{}") as SaidByAll
  return [...pages, ...clients].flatMap((page) => [page, ...partsOf(page, contract, said)]).toSorted(byRank)
}

const pageOf = (file: string, path: string, markdown: string | undefined): ReadonlyArray<DocsPage> => {
  if (markdown === undefined) return []
  const slug = path.replace(/\/README$/u, "")
  const [title = slug] = Markdown.headings(Markdown.parse(markdown)).map(({ text }) => text)
  return [{ slug, file, group: groupOf(slug), title, markdown, isPart: false }]
}

const groupOf = (slug: string): Shelf => {
  if (slug.startsWith("clients/")) return "Clients"
  if (slug === "start" || slug === "quickstarts") return "Start"
  if (slug.startsWith("quickstarts/")) return "Frameworks"
  if (slug.startsWith("operating/") || OPERATE.has(slug)) return "Operate"
  if (slug.startsWith("decisions") || UNDERSTAND.has(slug)) return "Understand"
  return REFERENCE.has(slug) ? "Reference" : "Send and receive"
}

/** The pages of the error reasons and of the events, each from its row or its section. */
const partsOf = (page: DocsPage, contract: Contract, said: SaidByAll): ReadonlyArray<DocsPage> =>
  page.slug === "errors" ? errorPages(page, contract, said) : page.slug === "events" ? eventPages(page) : []

/** Written by `npm run generate`: by status and reason. */
type SaidByAll = Readonly<Record<string, Samples.Said | undefined>>

const errorPages = (page: DocsPage, contract: Contract, said: SaidByAll): ReadonlyArray<DocsPage> =>
  errorRows(page).map((row) => {
    const markdown = Samples.errorPage(row, contract, said[`${row.statuses[0]} ${row.reason}`])
    return { ...page, slug: `errors/${row.reason}`, title: row.reason, markdown, isPart: true }
  })

const errorRows = ({ markdown }: DocsPage): ReadonlyArray<Samples.ErrorRow> =>
  Markdown.parse(markdown).flatMap((block) =>
    block.kind !== "table"
      ? []
      : block.rows.flatMap((cells) => {
          const [, status = "", source = "", when = "", advice = ""] = cells
          const reason = Markdown.nameOfRow(cells)
          if (reason === undefined || !/^\d{3}\b/u.test(status)) return []
          const statuses = status.split(" or ").map(Number) as unknown as Samples.ErrorRow["statuses"]
          return [{ reason, statuses, from: source.replaceAll("`", ""), when, advice }]
        }),
  )

/** Returns the reasons of all errors, in the order of their page. */
export const reasonsOf = (pages: ReadonlyArray<DocsPage>): ReadonlyArray<ErrorReason> =>
  pages
    .filter(({ slug }) => slug === "errors")
    .flatMap((page) =>
      errorRows(page).map(({ from, reason, statuses: [status], when }) => ({
        reason,
        status,
        from,
        html: Markdown.inline(when, linksOf(pages)(page)),
      })),
    )

/** A section has a table of events, how they are sent, and a line with the payload of each. */
const eventPages = (page: DocsPage): ReadonlyArray<DocsPage> =>
  page.markdown.split(/^(?=## )/mu).flatMap((section) => {
    const blocks = Markdown.parse(section)
    const how = blocks.find(({ kind }) => kind === "paragraph")
    return blocks.flatMap((block) =>
      block.kind !== "table"
        ? []
        : block.rows.flatMap((cells) => {
            const type = Markdown.nameOfRow(cells)
            const payload = section.split("\n").find((line) => line.includes(`"type":"${type}"`))
            if (type === undefined || payload === undefined || how?.kind !== "paragraph") return []
            const state = cells[2] === undefined || cells[2] === "" ? "" : `State after it: ${cells[2]}. `
            const body = `${cells[1] ?? ""} ${state}${how.text}\n\n\`\`\`json\n${payload}\n\`\`\``
            const markdown = Samples.eventPage(type, body)
            return [{ ...page, slug: `events/${type}`, title: type, markdown, isPart: true }]
          }),
    )
  })

const ranked = ({ slug }: DocsPage): number => {
  const at = ORDER.indexOf(slug)
  return at < 0 ? ORDER.length : at
}
const byRank = (one: DocsPage, other: DocsPage): number =>
  ranked(one) - ranked(other) || one.title.localeCompare(other.title, "en")

/** Makes the links of a page: those to other documents and served files lead there, and those to other files nowhere. */
export const linksOf = (pages: ReadonlyArray<DocsPage>) => {
  const byFile = new Map(pages.filter(({ isPart }) => !isPart).map(({ file, slug }) => [file, slug]))
  return ({ file, slug }: DocsPage): Markdown.LinkOf =>
    (target) => {
      if (/^(?:[a-z]+:|\/)/u.test(target)) return target
      const [path = "", hash] = target.split("#")
      const name = posix.join(posix.dirname(file), path).replace(/\/$/u, "")
      if (Object.hasOwn(FILES, name)) return `/${name}`
      const to = path === "" ? slug : byFile.get(name)
      return to === undefined ? undefined : `/docs/${to}${hash === undefined ? "" : `#${hash}`}`
    }
}

/** Sentences that are only a link, which leads nowhere as text, and the begin of what follows the paragraph. */
const REMNANT = /(?<=^|\.\s)\[[^\]]*\]\([^)]*\)\.(?:\s|$)|(?<=\.)\s[^.]*:$/gu

/** Returns the first paragraph of a page as plain text. */
export const summaryOf = ({ markdown }: Pick<DocsPage, "markdown">): string => {
  const first = Markdown.parse(markdown).find(({ kind }) => kind === "paragraph")
  if (first?.kind !== "paragraph") return ""
  return Markdown.plain(first.text.replaceAll(REMNANT, "")).replaceAll(/\s+/gu, " ").replace(/:$/u, ".")
}
