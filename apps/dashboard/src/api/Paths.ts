/** Paths of what the first screens read, which the page requests before the code of the screens has arrived. */

export type Query = Readonly<Record<string, string | number | ReadonlyArray<string> | undefined>>

export const pathWith = (path: string, query: Query = {}): string => {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === "") continue
    for (const each of Array.isArray(value) ? value : [value]) search.append(name, String(each))
  }
  const text = search.toString()
  return text === "" ? path : `${path}?${text}`
}

/** Paths of mail and what belongs to it, such as usage; keys, domains, routes, webhooks and members are the same in both modes. */
const OF_MAIL =
  /^\/(?:account|email|events|inbound(?!\/routes)|preview|requests|sandbox|stats|suppressions|threads)(?:[/?]|$)/u

/** Adds the mode to a path whose answer depends on it. */
export const withMode = (path: string, isTest: boolean): string =>
  isTest && OF_MAIL.test(path) ? `${path}${path.includes("?") ? "&" : "?"}livemode=false` : path

export const ACCOUNT = "/account"
export const WEBHOOKS = "/webhooks"
export const API_KEYS = "/api-keys"
export const DOMAINS = "/domains"
export const SAVED_VIEWS = "/dashboard/views"
export const USER = "/auth/get-session"
export const SESSION = "/v1/session"

export const RECENT_EMAILS = 6
export const recentEmails = pathWith("/email/logs", { limit: RECENT_EMAILS })

/** Templates that are known by name; a list shows the ids of others. */
const MAX_NAMED_TEMPLATES = 100
/** The newest templates, for their names. */
export const namedTemplates = pathWith("/templates", { kind: "template", limit: MAX_NAMED_TEMPLATES })

/** Maximum number of unfinished emails that are counted. */
const MAX_COUNTED = 100
/** Id below every other, so that a page before which nothing lies begins with the oldest email. */
const LOWEST_ID = `msg_${"0".repeat(26)}`
export const pendingEmails = pathWith("/email/logs", {
  status: "queued,deferred",
  before: LOWEST_ID,
  limit: MAX_COUNTED,
})

export const EMAILS_PAGE = 50
/** A page of the log. The first one without filters counts all emails, which takes one statement; searches count apart. */
export const emails = (filters: Query, after?: string): string =>
  pathWith("/email/logs", {
    ...filters,
    limit: EMAILS_PAGE,
    after,
    count: after === undefined && Object.keys(filters).length === 0 ? "true" : undefined,
  })

export const stats = (from: string, to: string, groupBy: string): string =>
  pathWith("/stats", { from, to, group_by: groupBy })
