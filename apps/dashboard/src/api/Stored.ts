/** Names of what the dashboard keeps in the browser from one page to the next. */
export const THEME = "waybill.theme"
export const TEST_MODE = "waybill.test-mode"
const SIGNED_IN = "waybill.signed-in"
const SEARCHES = "waybill.searches"

/** Returns a stored text; `null` if there is none, or where the browser allows no storage. */
export const read = (name: string): string | null => {
  try {
    return localStorage.getItem(name)
  } catch {
    return null
  }
}

/** Stores a text, or removes it. Without storage it lasts until the page is closed. */
export const write = (name: string, text: string | null): void => {
  try {
    if (text === null) localStorage.removeItem(name)
    else localStorage.setItem(name, text)
  } catch {
    // The caller has the value in memory.
  }
}

/** Account, scopes and end of the session, as they were when it was last read. */
interface LastSession {
  readonly account_id: string
  readonly scopes: ReadonlyArray<string>
  /** Time when the session ends, in milliseconds since 1970. */
  readonly until: number
}

/** Stores the session, or forgets it and what was searched in it. */
export const rememberSession = (session: LastSession | null): void => {
  write(SIGNED_IN, session === null ? null : JSON.stringify(session))
  if (session === null) write(SEARCHES, null)
}

/** Returns the session of the page before, if it probably goes on. It says what to read, never what may be shown. */
export const lastSession = (now: number): LastSession | undefined => {
  try {
    const { account_id, scopes, until } = JSON.parse(read(SIGNED_IN) ?? "null") as LastSession
    return Array.isArray(scopes) && until > now ? { account_id, scopes, until } : undefined
  } catch {
    return undefined
  }
}

/** Searches of the palette that are remembered. */
const MAX_SEARCHES = 5

/** Returns the last searches of the palette, newest first. */
export const lastSearches = (): ReadonlyArray<string> => {
  try {
    const texts: unknown = JSON.parse(read(SEARCHES) ?? "[]")
    return Array.isArray(texts) ? texts.filter((text) => typeof text === "string").slice(0, MAX_SEARCHES) : []
  } catch {
    return []
  }
}

export const rememberSearch = (text: string): void =>
  write(SEARCHES, JSON.stringify([text, ...lastSearches().filter((each) => each !== text)].slice(0, MAX_SEARCHES)))
