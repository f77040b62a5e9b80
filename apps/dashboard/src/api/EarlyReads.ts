/** Sites cannot make a browser send this header to another, so the server accepts a session cookie only together with it. */
export const DASHBOARD_HEADERS = { "x-waybill-dashboard": "1" }

/** Age up to which a response counts as that of a new request. */
const MAX_AGE_MS = 10_000

declare global {
  interface Window {
    /** Responses by path that the page requested before its code arrived, and when. */
    waybillReads?: { readonly at: number; readonly responses: Map<string, Promise<Response>> }
  }
}

/** Requests paths at once, for `request` to find. */
export const start = (paths: ReadonlyArray<string>): void => {
  const responses = new Map(paths.map((path) => [path, fetch(path, { headers: DASHBOARD_HEADERS })]))
  // A failure is reported to the caller of `request`.
  for (const response of responses.values()) response.catch(() => undefined)
  window.waybillReads = { at: performance.now(), responses }
}

/** Returns the response that the page has requested early, once; otherwise requests it now. */
export const request = (path: string, init: RequestInit & { readonly method: string }): Promise<Response> => {
  // After a change, such as signing in, earlier responses may be wrong.
  if (init.method !== "GET") forget()
  const { at = 0, responses } = window.waybillReads ?? {}
  const response = performance.now() - at < MAX_AGE_MS ? responses?.get(path) : undefined
  responses?.delete(path)
  return response ?? fetch(path, init)
}

/** Forgets responses that nobody got yet: they belong to a session that is over. */
export const forget = (): void => window.waybillReads?.responses.clear()
