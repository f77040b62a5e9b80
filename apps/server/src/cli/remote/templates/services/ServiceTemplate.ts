import { fail } from "./LocalTemplate.ts"

/** A template as another service has it. */
export interface ServiceTemplate {
  /** Id at the service. */
  readonly id: string
  readonly alias: string | null
  readonly name: string
  readonly kind: "template" | "layout"
  readonly subject: string | null
  readonly html: string | null
  readonly text: string | null
  readonly from: string | null
  readonly reply_to: ReadonlyArray<string>
  /** Alias of its layout at the service. */
  readonly layout: string | null
  readonly preheader: string | null
  /** JSON Schema of its variables, if the service knows them. */
  readonly variables: Readonly<Record<string, unknown>> | null
}

/** Parts that most services do not have. */
export const NOTHING_MORE = { from: null, reply_to: [], layout: null, preheader: null, variables: null }

export type Json = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const textOf = (value: unknown): string | null =>
  typeof value === "string" && value !== "" ? value : typeof value === "number" ? String(value) : null

/** Returns the objects of a list; none if it is no list. */
export const listOf = (value: unknown): ReadonlyArray<Json> => (Array.isArray(value) ? value.filter(isObject) : [])

/** Time for one answer of a service. */
const TIMEOUT_MS = 30_000
/** Templates that one import takes. */
export const MAX_IMPORTED = 1_000

export interface ServiceApi {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** Reads from the API of a service. Follows no redirect, which could take the key elsewhere. */
export const get = async ({ headers, url }: ServiceApi, path: string): Promise<Json> => {
  const target = `${url.replace(/\/+$/u, "")}${path}`
  try {
    const response = await fetch(target, {
      headers: { accept: "application/json", ...headers },
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const text = await response.text()
    if (!response.ok) return fail(`${target} answered ${response.status}: ${text.slice(0, 300)}`)
    const json: unknown = JSON.parse(text)
    return isObject(json) ? json : fail(`${target} answered no object`)
  } catch (cause) {
    if (cause instanceof Error && "_tag" in cause) throw cause
    return fail(`${target} could not be read: ${(cause as Error).message}`)
  }
}
