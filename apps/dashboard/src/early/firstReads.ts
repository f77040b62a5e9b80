import type { Scope } from "../api/Records.ts"
import * as TimeRange from "./TimeRange.ts"
import * as Paths from "../api/Paths.ts"
import { permits } from "./permits.ts"

interface Page {
  readonly path: string
  readonly search: URLSearchParams
  readonly scopes: ReadonlyArray<string>
  readonly accountId: string
  readonly isTest: boolean
  readonly now: number
}

/**
 * Paths that the first screen of a page reads at once. A path that the screen does not read is a request for nothing; one
 * that is missing here is read later, when the screen renders.
 */
export const firstReads = (page: Page): ReadonlyArray<string> => {
  const reads = readsOf(page)
    .filter(([scope]) => permits(page.scopes, scope))
    .map(([, path]) => `/v1${Paths.withMode(path, page.isTest)}`)
  return [Paths.USER, Paths.SESSION, `/v1${Paths.withMode(Paths.ACCOUNT, page.isTest)}`, ...reads]
}

type Read = readonly [required: Scope, path: string]

const readsOf = ({ accountId, now, path, search }: Page): ReadonlyArray<Read> => {
  switch (path) {
    case "/":
    case "/overview":
      return overview(search.get("range"), TimeRange.firstOf(accountId, now), now)
    case "/emails":
      return emails(search)
    default:
      return []
  }
}

const overview = (name: string | null, first: TimeRange.RangeName, now: number): ReadonlyArray<Read> => {
  const range = TimeRange.isName(name) ? name : first
  const { from, to, unit } = TimeRange.rangeOf(range, now)
  const usual = TimeRange.rangeOf(first, now)
  return [
    ["email:logs:read", Paths.stats(from, to, unit)],
    // Rates that rise are told whatever range is shown.
    ...(range === first ? [] : ([["email:logs:read", Paths.stats(usual.from, usual.to, usual.unit)]] as const)),
    ["email:logs:read", Paths.stats(from, to, "domain")],
    ["email:logs:read", Paths.recentEmails],
    ["email:logs:read", Paths.pendingEmails],
    ["domains:read", Paths.DOMAINS],
    ["webhooks:manage", Paths.WEBHOOKS],
  ]
}

/** A search is understood only with the names of keys, domains and templates, so its emails are read later. */
const emails = (search: URLSearchParams): ReadonlyArray<Read> => [
  ["admin", Paths.API_KEYS],
  ["domains:read", Paths.DOMAINS],
  ["templates:read", Paths.namedTemplates],
  ["email:logs:read", Paths.SAVED_VIEWS],
  ...(search.size === 0 ? ([["email:logs:read", Paths.emails({})]] as const) : []),
]
