import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import { Api } from "@waybill/api/Api"
import { Effect } from "effect"
import { OpenApi } from "effect/http-api"
import { globSync, readFileSync } from "node:fs"
import { type Contract, groupsOf } from "../../../apps/server/src/http/pages/reference/Contract.ts"
import * as DashboardPages from "../../../apps/server/src/http/pages/DashboardPages.ts"
import * as ReferencePage from "../../../apps/server/src/http/pages/reference/ReferencePage.ts"
import { SEARCHES_PER_MINUTE } from "../../../apps/server/src/http/pages/DocumentWindows.ts"
import * as Library from "../../../apps/server/src/http/pages/site/Library.ts"
import * as SearchIndex from "../../../apps/server/src/http/pages/site/SearchIndex.ts"
import * as SearchNames from "../../../apps/server/src/http/pages/site/SearchNames.ts"
import * as errors from "../../../scripts/generate/errors.ts"
import * as events from "../../../scripts/generate/events.ts"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"
import { FIRST, QUESTIONS } from "./docsQuestions.ts"

const contract = OpenApi.fromApi(Api) as unknown as Contract
const pages = Library.load(contract)
const references = groupsOf(contract).map(({ name }) => ReferencePage.addressOf(name).slice("/docs/".length))
const slugs = new Set(pages.map(({ slug }) => slug))

/** Reasons that no client of the API gets: they are internal, of the dashboard's own endpoints, or of the APIs of other services. */
const NOT_OF_THE_API = new Set(["nothing_new", "too_many_views", "view_not_found", "batch_not_found"])

const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = ""]) => found)

describe("the pages", () => {
  it("have one for each error reason of the source, and none besides", () => {
    const files = globSync([
      "packages/{domain,api,store}/src/**/*.ts",
      "apps/server/src/{web,http/api,live,accept}/**/*.ts",
    ])
    const found = files.flatMap((file) =>
      matches(readFileSync(file, "utf8"), /(?:readonly reason = |Refusal\.of\(\s*"\w+",\s*\d{3},\s*)"([a-z_0-9]+)"/gu),
    )
    const expected = found.filter((reason) => !NOT_OF_THE_API.has(reason))
    assert.isAbove(expected.length, 80)
    for (const reason of expected) assert.isTrue(slugs.has(`errors/${reason}`), `docs/errors.md has no ${reason}`)
    const source = files.map((file) => readFileSync(file, "utf8")).join("\n")
    const written = [...slugs].filter((slug) => slug.startsWith("errors/")).map((slug) => slug.slice("errors/".length))
    assert.deepStrictEqual(
      written.filter((reason) => !new RegExp(`\\b${reason}\\b`, "u").test(source)),
      [],
    )
  })

  it("have one for each event, written from the events: npm run generate events", () => {
    assert.strictEqual(readFileSync(events.FILE, "utf8"), events.written())
    const delayed = pages.find(({ slug }) => slug === "events/email.delivery_delayed")?.markdown ?? ""
    assert.include(delayed, "State after it: `deferred`.")
    for (const tag of DomainEvent.TAGS) assert.isTrue(slugs.has(`events/${DomainEvent.publicType(tag)}`), tag)
  })

  it("show what the errors themselves say, and no answer that is not known: npm run generate errors", async () => {
    assert.strictEqual(readFileSync(errors.FILE, "utf8"), await errors.written())
    const pageOf = (reason: string) => pages.find(({ slug }) => slug === `errors/${reason}`)?.markdown ?? ""
    const known = pageOf("all_recipients_suppressed")
    assert.include(known, "## The answer")
    assert.include(known, "In the dashboard: [Suppressions](/suppressions).")
    const places = [...slugs].filter((slug) => slug.startsWith("errors/")).map((slug) => pageOf(slug.slice(7)))
    for (const page of places) assert.match(page, /^Guide: \[[^\]]+\]\(\/docs\/[^)]+\)\./mu)
    assert.include(known, `"message": "The only recipient, ana@example.org, is suppressed (hard_bounce).`)
    assert.include(known, `"path": "to"`)
    const unknown = pageOf("request_timeout")
    assert.include(unknown, "## The form of the answer")
  })

  it("say every status that a reason has", () => {
    const page = pages.find(({ slug }) => slug === "errors/template_not_found")?.markdown ?? ""
    assert.include(page, "**Status 422, code `unprocessable`, or 404, code `not_found`.**")
  })

  it("are found by what people type for them", () => {
    const index = SearchIndex.make(pages, contract)
    for (const [address, names] of Object.entries(SearchNames.NAMES))
      for (const name of names) assert.strictEqual(index.search(name).entries[0]?.url, address, name)
  })

  it("have samples of each client in those of errors and of webhook events", () => {
    for (const slug of ["errors/monthly_quota", "events/email.delivered"]) {
      const page = pages.find((each) => each.slug === slug)?.markdown ?? ""
      assert.deepStrictEqual(
        matches(page, /^### (.+)$/gmu),
        ["curl", "TypeScript", "Python", "Go", "PHP", "Ruby"],
        slug,
      )
    }
  })
})

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("the documentation", (it) => {
  it.effect(
    "has no link that leads nowhere, no mark left of its Markdown, and nothing from elsewhere",
    function* () {
      const world = yield* HttpWorld
      const all = ["/docs", "/docs/search?q=mail", ...["api", ...references, ...slugs].map((slug) => `/docs/${slug}`)]
      const ids = new Map<string, ReadonlySet<string>>()
      const links: Array<readonly [from: string, to: string]> = []
      // As the windows of documents allow.
      for (const path of all) {
        const { status, text } = yield* world.request("GET", path)
        assert.strictEqual(status, 200, path)
        ids.set(path.split("?")[0] ?? "", new Set(matches(text, / id="([^"]+)"/gu)))
        links.push(...matches(text, /href="([^"]+)"/gu).map((to) => [path, to] as const))
        const prose = text.replaceAll(/<(style|script|code)>[^]*?<\/\1>/gu, "")
        assert.notMatch(prose, /\]\(|\*\*|```|^\|/mu, path)
        assert.notMatch(prose, /<(?:script|link|img|iframe)\b/u, path)
      }
      for (const [from, to] of links) {
        if (/^https?:/u.test(to) || to === "/" || /\.(?:md|yaml|json)$|^\/(?:openapi\.json|llms)/u.test(to)) continue
        const [path = "", hash] = to.split("#")
        if (DashboardPages.SECTIONS.has(path.split("/")[1] ?? "")) continue
        const target = path === "" ? (from.split("?")[0] ?? "") : path
        assert.isTrue(ids.has(target), `${from} leads to ${to}`)
        if (hash !== undefined) assert.isTrue(ids.get(target)?.has(hash), `${from} leads to ${to}`)
      }
    },
    90_000,
  )

  it.effect("serves the files that monitoring leads to", function* () {
    const world = yield* HttpWorld
    const { text: page } = yield* world.request("GET", "/docs/operating/monitoring")
    for (const [name, type] of [
      ["alerts.yaml", "application/yaml"],
      ["grafana-dashboard.json", "application/json"],
    ] as const) {
      assert.include(page, `href="/docs/operating/${name}"`)
      const { headers, text } = yield* world.request("GET", `/docs/operating/${name}`)
      assert.strictEqual(headers.get("content-type"), type)
      assert.strictEqual(text, readFileSync(`docs/operating/${name}`, "utf8"))
    }
  })

  it.effect("answers each question within the first three results", function* () {
    const world = yield* HttpWorld
    assert.isAtLeast(QUESTIONS.length, 30)
    for (const [question, answer] of QUESTIONS) {
      const { text } = yield* world.request("GET", `/docs/search?q=${encodeURIComponent(question)}`)
      const found = matches(text, /<li><a href="([^"]+)">[^<]*<\/a> <small>/gu).slice(0, 3)
      assert.isTrue(
        found.some((url) => answer.test(url)),
        `${question}: ${found.join(", ")}`,
      )
    }
  })

  it.effect("has what newcomers look for as its first result, and each place once", function* () {
    const world = yield* HttpWorld
    for (const [query, answer] of FIRST) {
      const { text } = yield* world.request("GET", `/docs/search?q=${encodeURIComponent(query)}`)
      const found = matches(text, /<li><a href="([^"]+)">[^<]*<\/a> <small>/gu)
      assert.strictEqual(found[0], answer, query)
      assert.strictEqual(new Set(found).size, found.length, query)
    }
  })

  it.effect("answers pages with the first results as JSON, in a rate window of searches", function* () {
    const world = yield* HttpWorld
    const { headers, json } = yield* world.request("GET", "/docs/search.json?q=webhook+signature")
    assert.strictEqual(headers.get("access-control-allow-origin"), "*")
    assert.strictEqual(headers.get("x-ratelimit-limit"), String(SEARCHES_PER_MINUTE))
    const [first] = json.places
    assert.deepStrictEqual([json.note, json.count, json.places.length], ["", 8, 8])
    assert.deepStrictEqual(first, {
      title: "Verify a call",
      url: "/docs/webhooks#verify-a-call",
      about: "section · Webhooks and events",
    })
    assert.deepStrictEqual((yield* world.request("GET", "/docs/search.json?q=+")).json.places, [])
    // The last word is still being typed.
    for (const typed of ["webhook signatu", "webhook sign"])
      assert.strictEqual(
        (yield* world.request("GET", `/docs/search.json?q=${typed}`)).json.places[0].url,
        first.url,
        typed,
      )
  })

  it.effect("says which word it took for a misspelt one", function* () {
    const world = yield* HttpWorld
    const page = (query: string) => world.request("GET", `/docs/search?q=${encodeURIComponent(query)}`)
    const { text } = yield* page("verify webhok signiture")
    assert.include(text, "Results for “verify webhook signature”:")
    assert.notInclude((yield* page("webho")).text, "Results for")
    // Three letters are near too many words.
    assert.include((yield* page("ssi")).text, "No results for “ssi”")
    assert.notInclude((yield* page("webhook")).text, "Results for")
    // Another first letter makes another word.
    const { text: other } = yield* page("does it support jabber mode")
    assert.match(other, /<p>Nothing fits well: no page has “jabber”\. With the other words: \d+ found<\/p>/u)
    assert.notInclude((yield* page("webhook signiture")).text, "Nothing fits well")
  })

  it.effect("says that a query has no results, above near pages", function* () {
    const world = yield* HttpWorld
    for (const [query, near] of [
      ["mykubernetes", "/docs/operating/kubernetes"],
      ["zzzqq", "/docs/start"],
    ] as const) {
      const { json } = yield* world.request("GET", `/docs/search.json?q=${query}`)
      assert.deepStrictEqual([json.note, json.count], [`No results for “${query}”. These pages may help:`, 0])
      assert.deepStrictEqual([json.places.length, json.places[0].url], [3, near])
      const { text } = yield* world.request("GET", `/docs/search?q=${query}`)
      assert.include(
        text,
        `<p>No results for “${query}”. These pages may help:</p>\n<ol class="found"><li><a href="${near}">`,
      )
    }
  })

  it.effect("folds the pages of frameworks, and says of each page what stands alone", function* () {
    const world = yield* HttpWorld
    const { text } = yield* world.request("GET", "/docs")
    const summaries = matches(text, /<dd>([^<]*)<\/dd>/gu)
    assert.isAbove(summaries.length, 50)
    for (const summary of summaries) {
      assert.match(summary, /\S[.)]$/u)
      assert.notMatch(summary, /begin here/iu)
    }
    assert.match(
      text,
      /<details><summary>Frameworks[^<]*<\/summary><dl class="quiet"><dt><a href="\/docs\/quickstarts\//u,
    )
  })

  it.effect("lists its pages by task, in groups that are not named as a page", function* () {
    const world = yield* HttpWorld
    const { text } = yield* world.request("GET", "/docs")
    const [list = ""] = /<nav[^]*?<\/nav>/u.exec(text) ?? []
    const titles = matches(list, /<li><a [^>]*>([^<]*)<\/a>/gu)
    for (const group of matches(list, /<h2>([^<]*)<\/h2>/gu)) assert.notInclude(titles, group)
    const begin = (title: string, many: number) => titles.slice(titles.indexOf(title)).slice(0, many)
    assert.deepStrictEqual(begin("Sending", 3), ["Sending", "Webhooks and events", "Inbound mail"])
    assert.deepStrictEqual(begin("Errors", 5), ["Errors", "Events", "Limits", "Concepts", "Architecture"])
    // Pages for those who change Waybill are folded, and decisions are behind one of them.
    assert.match(list, /<details class="group"><summary>Understand<\/summary>/u)
    assert.notMatch(list, /\/docs\/decisions\//u)
    const { text: decision } = yield* world.request("GET", "/docs/decisions/mail")
    assert.match(
      decision,
      /<details class="group" open><summary>Understand<[^]*"\/docs\/decisions" aria-current="page"/u,
    )
    for (const summary of matches(text.split("Understand:")[0] ?? "", /<dd>([^<]*)<\/dd>/gu))
      assert.notMatch(summary, /\bby a test\b|\ba test keeps\b|npm run generate/u)
  })

  it.effect("names the column in each cell, which a phone shows below one another", function* () {
    const world = yield* HttpWorld
    const { text } = yield* world.request("GET", "/docs/configuration")
    assert.match(text, /<tr id="port"><td data-head="[^"]+"><code>PORT<\/code><\/td><td data-head="[^"]+">/u)
  })

  it.effect("marks what was searched for in excerpts of whole words, without Markdown", function* () {
    const world = yield* HttpWorld
    for (const query of ["schedule", "idempotency key", "request_rate", "C++ (a|b)* [x"]) {
      const { text } = yield* world.request("GET", `/docs/search?q=${encodeURIComponent(query)}`)
      const excerpts = matches(text, /<small>[^<]*<\/small><p>(.*?)<\/p><\/li>/gsu)
      assert.isAbove(excerpts.length, 0, query)
      for (const excerpt of excerpts) assert.notMatch(excerpt, /(?:^|\s)#{2,4} /u)
      if (query === "schedule") assert.include(excerpts.join("\n").toLowerCase(), "<mark>schedule")
    }
  })

  it.effect("shows what was searched for as text, and takes no more than a line", function* () {
    const world = yield* HttpWorld
    const attack = `"><script>alert(1)</script>`
    const { headers, text } = yield* world.request("GET", `/docs/search?q=${encodeURIComponent(attack)}`)
    assert.notInclude(text, "<script>alert")
    assert.include(text, "&quot;&gt;&lt;script&gt;alert(1)")
    assert.match(
      headers.get("content-security-policy") ?? "",
      /^sandbox allow-scripts allow-forms; default-src 'none'/u,
    )
    assert.strictEqual((yield* world.request("GET", `/docs/search?q=${"mail ".repeat(2_000)}`)).status, 200)
    assert.strictEqual((yield* world.request("GET", "/docs/search")).status, 200)
  })

  it.effect("shows each piece of code as code, also one that goes on in the next line", function* () {
    const world = yield* HttpWorld
    for (const slug of ["api", ...references, ...slugs]) {
      const { text } = yield* world.request("GET", `/docs/${slug}`)
      const prose = text.replaceAll(/<(script|style|pre|code)[^>]*>[^]*?<\/\1>/gu, "").replaceAll(/<[^>]+>/gu, "")
      assert.notInclude(prose, "`", slug)
    }
    const { text } = yield* world.request("GET", "/docs/command-line")
    assert.notMatch(text, /<code>[^<]*\n[^<]*<\/code>(?!<\/pre>)/u)
  })

  it.effect("prints JSON as the reference does, with a name in each line", function* () {
    const world = yield* HttpWorld
    const { text } = yield* world.request("GET", "/docs/webhooks")
    assert.include(
      text,
      `<code>{\n  <span class="name">&quot;id&quot;</span>: <span class="string">&quot;evt_01k9…&quot;</span>,\n`,
    )
  })

  it.effect("is Markdown for programs, and listed for language models", function* () {
    const world = yield* HttpWorld
    const { headers, text } = yield* world.request("GET", "/docs/operating/backup.md")
    assert.strictEqual(headers.get("content-type"), "text/markdown; charset=utf-8")
    assert.strictEqual(text, readFileSync("docs/operating/backup.md", "utf8"))
    const list = yield* world.request("GET", "/llms.txt")
    assert.match(list.text, /^# Waybill\n\n> /u)
    const listed = matches(list.text, /^- \[.*?\]\(\/docs\/(\S+)\.md\): /gmu)
    assert.sameMembers(listed, [...slugs])
    const full = yield* world.request("GET", "/llms-full.txt")
    for (const slug of ["start", "operating/backup", "errors", "clients/go"])
      assert.include(full.text, `<!-- /docs/${slug}.md -->`)
  })

  it.effect("has the page to which an error leads, and one for an address that has none", function* () {
    const world = yield* HttpWorld
    const refused = yield* world.request("GET", "/v1/domains", { key: null })
    assert.strictEqual(refused.json.error.docs, "/docs/errors/api_key_missing")
    const { status, text } = yield* world.request("GET", refused.json.error.docs)
    assert.strictEqual(status, 200)
    assert.include(text, "<code>api_key_missing</code>")
    const missing = yield* world.request("GET", "/docs/nowhere")
    assert.strictEqual(missing.status, 404)
    assert.include(missing.text, "No such page")
  })
})

describe("a library without documents", () => {
  it.effect("is empty", () => Effect.sync(() => assert.deepStrictEqual(Library.load(contract, "/nowhere"), [])))
})
