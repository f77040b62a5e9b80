import { Waybill, WaybillError } from "@waybill/client/Waybill"
import * as Table from "@waybill/domain/values/Table"
import { Context, Data, Effect, Layer, Redacted } from "effect"
import * as Output from "../Output.ts"
import * as Credentials from "./Credentials.ts"

/** Retries after a lost connection or a 5xx. More would keep somebody waiting who is at a terminal. */
const RETRIES = 2

/** A request that the API refused or did not answer. */
export class ApiFailure extends Data.TaggedError("ApiFailure")<{
  readonly message: string
  readonly error: WaybillError
}> {}

interface Connection {
  readonly client: Waybill
  readonly url: string
  /** Warnings in the answers since they were printed. */
  readonly warnings: Array<string>
}

/** Client of the instance that the user is logged in to. */
export class ApiClient extends Context.Service<ApiClient, Connection>()("@waybill/server/cli/remote/ApiClient") {
  static readonly layer = Layer.effect(
    ApiClient,
    Effect.suspend(() => Effect.flatMap(Credentials.load, connect)),
  )
}

/** Makes a client. Fails if the key is incomplete or mistyped. */
export const connect = ({ key, url }: Credentials.Login) =>
  Effect.try({
    try: (): Connection => {
      const warnings: Array<string> = []
      const noting: typeof fetch = async (...request) => {
        const response = await fetch(...request)
        for (const [, text = ""] of (response.headers.get("warning") ?? "").matchAll(WARNING)) warnings.push(`${text}.`)
        return response
      }
      return {
        url,
        warnings,
        client: new Waybill(Redacted.value(key), { baseUrl: url, retries: RETRIES, fetch: noting }),
      }
    },
    catch: failureOf,
  })

/** One of the warnings of a header (RFC 7234 §5.5). */
const WARNING = /\b199 - "([^"]*)"/gu

/** Calls the API, and prints of what its answer warns. */
export const call = <A>(request: (client: Waybill) => Promise<A>) =>
  Effect.flatMap(ApiClient, ({ client, url, warnings }) =>
    attempt(() => request(client)).pipe(
      Effect.mapError((failure) => withPage(failure, url)),
      Effect.tap(() => Effect.forEach(warnings.splice(0), Output.complain, { discard: true })),
    ),
  )

/** Adds the page about the reason, which a person at a terminal may open. Programs get one line. */
const withPage = ({ error, message }: ApiFailure, url: string): ApiFailure =>
  new ApiFailure({
    error,
    message: error.docs === null || !process.stderr.isTTY ? message : `${message}\nSee ${url}${error.docs}`,
  })

/** Reads the first records of a list over its pages. */
export const firstOf = Effect.fnUntraced(function* <A extends object>(
  read: (client: Waybill) => AsyncIterable<A>,
  limit: number,
) {
  const found = yield* call(async (client) => {
    const rows: Array<A> = []
    for await (const record of read(client)) if (rows.push(record) > limit) break
    return rows
  })
  return { rows: found.slice(0, limit), more: found.length > limit ? leftOut(limit) : undefined }
})

/** Says that a list has more than is shown, and how many in all if that is known. */
export const leftOut = (limit: number, total?: string): string =>
  `Only the first ${limit === 1 ? "" : `${limit} `}${total === undefined ? "" : `of ${total} `}${limit === 1 ? "is" : "are"} shown; --limit shows more.`

export const attempt = <A>(request: () => Promise<A>) => Effect.tryPromise({ try: request, catch: failureOf })

export const failureOf = (cause: unknown): ApiFailure => {
  const error =
    cause instanceof WaybillError
      ? cause
      : new WaybillError({ code: "unexpected", message: cause instanceof Error ? cause.message : String(cause), cause })
  return new ApiFailure({ error, message: sentenceOf(error) })
}

const sentenceOf = (error: WaybillError): string => {
  const { code, details, message, reason, requestId, status } = error
  const [first, ...more] = details
  if (code === "connection_failed") return `${message}${reasonOf(error.cause)}`
  if (code === "invalid_key") return "This is not a complete API key (wb_…). Copy it again."
  if (status === 401) return `${message} Run \`waybill login\` with a key that works.`
  if (status >= 500 && requestId !== null) return `${message} (request ${requestId})`
  if (reason === "malformed_id" && first !== undefined) return `<${first.path}> ${first.message}.`
  const others = more.map((detail) => `\`${detail.path}\` ${detail.message}`)
  const also = others.length === 0 ? message : `${message} Also: ${others.join("; ")}`
  const commands = reason === null ? undefined : Table.at(COMMANDS, reason)
  return commands === undefined ? also : `${also} From a terminal: ${commands}.`
}

/** Commands for what the messages of refusals advise. */
const COMMANDS: Readonly<Record<string, string>> = {
  all_recipients_suppressed: "`waybill suppressions`",
  domain_not_verified: "`waybill domains add` and `waybill domains verify`",
}

/** The reason why no connection was made, which Node hides in the cause of "fetch failed". */
const reasonOf = (cause: unknown): string => {
  const inner = cause instanceof Error ? cause.cause : undefined
  const { code } = (inner ?? {}) as { readonly code?: unknown }
  if (code === "ECONNREFUSED")
    return ". Nothing listens there: `waybill start` starts a service, `waybill login` chooses another."
  const check = code === "ENOTFOUND" ? "There is no such host" : "Check the address and the network"
  return `. ${check}; \`waybill login\` chooses another address.`
}
