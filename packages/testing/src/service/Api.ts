/** A request that the service refused, with its own explanation. */
export class Refused extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.name = "Refused"
    this.status = status
  }
}

interface Failure {
  readonly message?: string
  readonly details?: ReadonlyArray<{ readonly path: string; readonly message: string }>
}

/** Returns all details of a refusal, one line each. */
const listOf = ({ error }: { readonly error?: Failure }): string =>
  (error?.details ?? []).map(({ message, path }) => `\n  ${path === "" ? "" : `${path} `}${message}`).join("")

/** Requests to the service with one of its keys. */
export interface ApiRequests {
  readonly get: (path: string, signal?: AbortSignal) => Promise<unknown>
  readonly post: (path: string, body: unknown) => Promise<unknown>
  readonly put: (path: string, body: unknown) => Promise<unknown>
  readonly patch: (path: string, body: unknown) => Promise<unknown>
  readonly remove: (path: string) => Promise<unknown>
}

export const make = (url: string, key: string): ApiRequests => {
  const send = async (method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<unknown> => {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    })
    const answer = (await response.json()) as { readonly error?: Failure }
    if (response.ok) return answer
    throw new Refused(
      response.status,
      `${method} ${path}: ${answer.error?.message ?? response.status}${listOf(answer)}`,
    )
  }
  return {
    get: (path, signal) => send("GET", path, undefined, signal),
    post: (path, body) => send("POST", path, body),
    put: (path, body) => send("PUT", path, body),
    patch: (path, body) => send("PATCH", path, body),
    remove: (path) => send("DELETE", path),
  }
}
