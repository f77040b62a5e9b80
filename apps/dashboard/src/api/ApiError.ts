interface ErrorBody {
  readonly error?: {
    readonly message: string
    readonly reason: string
    readonly request_id: string
    readonly details: ApiError["details"]
  }
}

interface Fields {
  readonly status: number
  readonly message: string
  readonly reason: string
  readonly requestId: string | null
  readonly details?: ApiError["details"]
  readonly retryAfterSeconds?: number | null
}

/** Errors whose API message is written for developers, with a message for people. */
const MESSAGES: Record<string, string> = {
  template_invalid: "The template has errors. They stand above the preview, each with its place.",
  malformed_id: "Nothing has this id. Check that the address is complete.",
  template_variables_invalid: "The sample values do not fit the template. The reasons stand above the preview.",
  template_not_rendered: "The template cannot be shown with these values. The reason stands above the preview.",
  missing_scope: "Your role does not allow this. An owner of the account can change your role in Settings, Members.",
}

/** Capitalizes the first word, unless it is an address or a name such as links.example.com, and adds a period. */
const sentence = (text: string): string => {
  const trimmed = text.trim()
  const capitalized = trimmed.replace(/^[a-z]+(?=\s)/u, (word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`)
  return `${capitalized}${/[.!?]$/u.test(trimmed) ? "" : "."}`
}

/** Screens that do what an endpoint does that messages recommend. */
const SCREENS: ReadonlyArray<readonly [endpoint: RegExp, screen: string]> = [
  [/\bwith POST (?:\/v1)?\/domains(?=[ .])/gu, "in Domains"],
  [/\bat \/v1\/suppressions(?=[ ,.])/gu, "in Suppressions"],
]

/** Names screens instead of endpoints, and leaves out other sentences about endpoints, which are for developers. */
const withoutEndpoints = (message: string): string =>
  SCREENS.reduce((text, [endpoint, screen]) => text.replaceAll(endpoint, screen), message).replaceAll(
    / ?[^.]*\b(?:GET|POST|PUT|PATCH|DELETE) \/[^ ]*(?:[^.]|\.(?! |$))*\.?/gu,
    "",
  )

/** Replaces the path of a field at the start of an API message, such as `reply_to[0]`, with words. */
const readable = (message: string): string =>
  sentence(
    withoutEndpoints(
      message
        .replace(/^`([^`]*)`/u, (_, path: string) => path.replaceAll(/\[\d+\]/gu, "").replaceAll(/[_.-]+/gu, " "))
        .replace(/ \d+ more errors? (?:is|are) in `details`\.$/u, ""),
    ),
  )

/** Returns the message for people. One that is only about endpoints says nothing to them, so the status has to do. */
const inWords = (message: string, status: number): string => {
  const text = readable(message)
  if (/\p{L}/u.test(text)) return text
  return status === 404 ? "No such page or record. Check the address." : `The server responded with status ${status}.`
}

/** Returns what is wrong with a field, without its path: "is not an address" becomes "This is not an address." */
const aboutField = (message: string): string =>
  sentence(withoutEndpoints(message).replace(/^(?=(?:is|has|needs|was|does) )/u, "This "))

/** Pause after a 429 response without a Retry-After header: the length of a rate window. */
const WINDOW_S = 60

/** An error response of the API. Status 0 means that no response arrived. */
export class ApiError extends Error {
  override readonly name = "ApiError"
  readonly status: number
  readonly reason: string
  readonly requestId: string | null
  readonly details: ReadonlyArray<{ readonly path: string; readonly message: string }>
  readonly retryAfterSeconds: number | null

  constructor(fields: Fields) {
    super(fields.message)
    this.status = fields.status
    this.reason = fields.reason
    this.requestId = fields.requestId
    this.details = fields.details ?? []
    this.retryAfterSeconds = fields.retryAfterSeconds ?? null
  }

  static async fromResponse(response: Response): Promise<ApiError> {
    const body = (await response.json().catch(() => ({}))) as ErrorBody
    const retryAfter = response.headers.get("retry-after")
    const reason = body.error?.reason ?? "unreadable"
    const message = body.error?.message
    return new ApiError({
      status: response.status,
      message:
        MESSAGES[reason] ??
        (message === undefined
          ? `The server responded with status ${response.status}.`
          : inWords(message, response.status)),
      reason,
      requestId: body.error?.request_id ?? response.headers.get("x-request-id"),
      details: body.error?.details ?? [],
      retryAfterSeconds: retryAfter === null ? null : Number(retryAfter),
    })
  }

  static unreachable(): ApiError {
    return new ApiError({
      status: 0,
      message: "Could not reach the server. Check your connection and that the server is running.",
      reason: "unreachable",
      requestId: null,
    })
  }

  /** Seconds until the rate limit allows another request; undefined if it has not refused this one. */
  get pauseSeconds(): number | undefined {
    return this.status === 429 ? (this.retryAfterSeconds ?? WINDOW_S) : undefined
  }

  /** Returns what is wrong with the field at `path`, to show below it. */
  fieldMessage(path: string): string | undefined {
    const details = this.details.filter((each) => isAt(each.path, path))
    if (details.length === 0) return undefined
    // Only for invalid input is the message of a detail a complete explanation.
    if (this.reason !== "validation_failed" && this.details.length === 1) return this.message
    return details.map(({ message }) => aboutField(message)).join(" ")
  }

  /** Returns the error without what is wrong with these fields, or `undefined` if nothing is left. */
  without(fields: ReadonlyArray<string>): ApiError | undefined {
    const details = this.details.filter(({ path }) => !fields.some((field) => isAt(path, field)))
    if (details.length === this.details.length) return this
    if (details.length === 0) return undefined
    return new ApiError({ ...this, details, message: details.map(({ message }) => aboutField(message)).join(" ") })
  }
}

const isAt = (path: string, field: string): boolean =>
  path === field || path.startsWith(`${field}[`) || path.startsWith(`${field}.`)
