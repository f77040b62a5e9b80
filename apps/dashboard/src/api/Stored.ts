/** Names of what the dashboard keeps in the browser from one page to the next. `index.html` reads that of the theme. */
export const THEME = "waybill.theme"
export const TEST_MODE = "waybill.test-mode"
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

export const forgetSearches = (): void => write(SEARCHES, null)
