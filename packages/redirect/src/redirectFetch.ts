import * as Target from "./Target.ts"

/** Sends requests by `fetch` to the services elsewhere. */
export const redirectFetch = (base: URL): void => {
  const { fetch } = globalThis
  globalThis.fetch = (input, init) => {
    const request = input instanceof Request ? input : undefined
    const url = Target.parsed(request === undefined ? String(input) : request.url)
    const target = url === undefined ? undefined : Target.of(base, url)
    if (target === undefined) return fetch(input, init)
    return request === undefined ? fetch(target, init) : fetch(new Request(target, request), init)
  }
}
