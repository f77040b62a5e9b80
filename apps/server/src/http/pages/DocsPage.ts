import { Api } from "@waybill/api/Api"
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { OpenApi } from "effect/http-api"
import * as InboundSettings from "../../settings/InboundSettings.ts"
import { Instance, ReceivesMailAt } from "../../settings/Instance.ts"
import * as MailSettings from "../../settings/MailSettings.ts"
import { type Contract, groupsOf } from "./reference/Contract.ts"
import * as ReferencePage from "./reference/ReferencePage.ts"
import type { Ports } from "./reference/scriptOf.ts"
import * as SharedDocument from "./SharedDocument.ts"
import * as Library from "./site/Library.ts"
import * as SearchIndex from "./site/SearchIndex.ts"
import * as SitePages from "./site/SitePages.ts"

/**
 * Isolates the pages from the dashboard, which has the same address: without `allow-same-origin` a page has an origin of
 * its own, without cookies, storage or responses of the service. It runs only its own inline script, by its hash. A page
 * with the search may call the service, of which it can read `/docs/search.json` only. See docs/decisions/api.md, 0030.
 */
const policy = (hashes: ReadonlyArray<string>, connect: "'self'" | "'none'"): string =>
  [
    "sandbox allow-scripts allow-forms",
    "default-src 'none'",
    `script-src ${hashes.join(" ")}`,
    `connect-src ${connect}`,
    "style-src 'unsafe-inline'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ")

const NOSNIFF = { "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" }
/** The pages have an opaque origin. What they read is the same for everybody. */
const READABLE = { ...NOSNIFF, "cache-control": "no-cache", "access-control-allow-origin": "*" }
const HTML = "text/html; charset=utf-8"
const MARKDOWN = "text/markdown; charset=utf-8"
const TEXT = "text/plain; charset=utf-8"

const guarded = (html: string, connect: "'self'" | "'none'" = "'self'") => ({
  ...NOSNIFF,
  "content-security-policy": policy(SharedDocument.scriptHashes(html), connect),
})

/** Paths of documents, which are the same for everybody and have rate windows of their own. */
export const isDocument = (path: string): boolean => path === "/docs" || path.startsWith("/docs/") || FILES.has(path)
const FILES: ReadonlySet<string> = new Set(["/openapi.json", "/llms.txt", "/llms-full.txt", "/verify"])

interface Written {
  readonly text: string
  readonly type: string
  /** A page that calls nothing. */
  readonly isAlone?: boolean
}

interface Shared {
  readonly document: SharedDocument.SharedDocument
  readonly headers: Readonly<Record<string, string>>
}

const share = ({ isAlone = false, text, type }: Written): Effect.Effect<Shared> =>
  Effect.map(SharedDocument.make(text, type), (document) => ({
    document,
    headers: type === HTML ? guarded(text, isAlone ? "'none'" : "'self'") : NOSNIFF,
  }))

/** All documents of the site by path, each written at its first request, because most processes never serve them. */
const documentsOf = (contract: Contract, ports: Ports) => {
  const pages = Library.load(contract)
  const site: SitePages.Site = { pages, linksOf: Library.linksOf(pages), ports }
  const written = new Map<string, () => Written>([
    ["/docs", () => ({ text: SitePages.frontPage(site), type: HTML })],
    ["/docs/api", () => ({ text: ReferencePage.overviewPage(contract), type: HTML })],
    ...groupsOf(contract).map((group): [string, () => Written] => [
      ReferencePage.addressOf(group.name),
      () => ({ text: ReferencePage.groupPage(contract, group, Library.reasonsOf(pages)), type: HTML }),
    ]),
    ["/llms.txt", () => ({ text: SitePages.llmsText(site), type: TEXT })],
    ["/llms-full.txt", () => ({ text: SitePages.fullText(site), type: TEXT })],
    ...Library.receiptPage().map((text): [string, () => Written] => [
      "/verify",
      () => ({ text, type: HTML, isAlone: true }),
    ]),
    ...Library.files().map(({ path, text, type }): [string, () => Written] => [path, () => ({ text, type })]),
    ...pages.flatMap((page): ReadonlyArray<[string, () => Written]> => [
      [`/docs/${page.slug}`, () => ({ text: SitePages.documentPage(site, page), type: HTML })],
      [`/docs/${page.slug}.md`, () => ({ text: page.markdown, type: MARKDOWN })],
    ]),
  ])
  let index: SearchIndex.SearchIndex | undefined
  const search: SearchIndex.SearchIndex["search"] = (query, isTyped) =>
    (index ??= SearchIndex.make(pages, contract)).search(query, isTyped)
  return { site, written, search }
}

const pathAndQuery = (url: string): readonly [string, string] => {
  const [path = "", query = ""] = url.split("?", 2)
  return [path, new URLSearchParams(query).get("q")?.slice(0, SearchIndex.MAX_QUERY_CHARS) ?? ""]
}

const listening = (usual: number, at: { readonly port: number } | null): ReadonlyArray<readonly [number, number]> =>
  at === null ? [] : [[usual, at.port]]

/** The documentation, the page that checks receipts, and the OpenAPI document. */
export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const text = yield* Effect.cached(Effect.sync(() => JSON.stringify(OpenApi.fromApi(Api))))
    const ports = new Map([
      ...listening(MailSettings.DEFAULT_SMTP_PORT, (yield* Instance).submission),
      ...listening(InboundSettings.DEFAULT_MAIL_PORT, yield* ReceivesMailAt),
    ])
    const documents = yield* Effect.cached(Effect.map(text, (json) => documentsOf(JSON.parse(json) as Contract, ports)))
    const page = (html: string, status = 200) =>
      HttpServerResponse.text(html, {
        status,
        contentType: HTML,
        headers: { ...guarded(html), "cache-control": "no-cache" },
      })

    const once = SharedDocument.once<Shared>()
    const answer = Effect.gen(function* () {
      const { search, site, written } = yield* documents
      const [path, query] = pathAndQuery((yield* HttpServerRequest.HttpServerRequest).url)
      if (path === "/docs/search.json")
        return HttpServerResponse.jsonUnsafe(SitePages.suggestions(site, query, search(query, true)), {
          headers: READABLE,
        })
      if (path === "/docs/search") return page(SitePages.searchPage(site, query, search(query)))
      const write = written.get(path)
      if (write === undefined) return page(SitePages.missingPage(site), 404)
      const { document, headers } = yield* once(
        path,
        Effect.suspend(() => share(write())),
      )
      return yield* SharedDocument.respond(document, headers)
    })
    for (const path of ["/docs/*", "/llms.txt", "/llms-full.txt", "/verify"] as const)
      yield* router.add("GET", path, answer)

    const contract = yield* Effect.cached(Effect.flatMap(text, (json) => SharedDocument.make(json, "application/json")))
    yield* router.add(
      "GET",
      "/openapi.json",
      Effect.flatMap(contract, (document) => SharedDocument.respond(document, NOSNIFF)),
    )
  }),
)
