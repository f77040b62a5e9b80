import { decodeStrictly } from "@waybill/api/errors/decodeStrictly"
import type * as Violations from "@waybill/api/errors/Violations"
import { type Waybill, WaybillError } from "@waybill/client/Waybill"
import { Data, Effect, Schema } from "effect"
import type { ToolAnswer } from "./ToolAnswer.ts"

/** Sentence for the caller of a tool about why there is no answer. */
export class ToolRefusal extends Data.TaggedError("ToolRefusal")<{ readonly message: string }> {}

/** Hints for clients about the effect of a tool. */
export interface Effects {
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}

/** Effects of a tool that only reads from the instance. */
export const READS: Effects = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }

export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly annotations: Effects
  readonly inputSchema: { readonly type: "object"; readonly [keyword: string]: unknown }
  /** Decodes the input and runs the tool. */
  readonly call: (waybill: Waybill, input: unknown) => Effect.Effect<ToolAnswer, ToolRefusal>
}

interface Definition<A> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly annotations: Effects
  readonly input: Schema.Codec<A, unknown>
  readonly run: (waybill: Waybill, input: A) => Effect.Effect<ToolAnswer, ToolRefusal>
}

export const tool = <A>({ input, run, ...described }: Definition<A>): Tool => ({
  ...described,
  inputSchema: jsonSchemaOf(input),
  call: (waybill, sent) =>
    decodeStrictly(input)(sent).pipe(
      Effect.mapError((violations) => new ToolRefusal({ message: sentenceOf(violations) })),
      Effect.flatMap((decoded) => run(waybill, decoded)),
    ),
})

/** Returns the JSON schema of an input, with its definitions in it, because a client sees no other document. */
const jsonSchemaOf = (input: Schema.Top): Tool["inputSchema"] => {
  const { definitions, schema } = Schema.toJsonSchemaDocument(input, { onExcessProperty: "error" })
  return { ...schema, type: "object", ...(Object.keys(definitions).length === 0 ? {} : { $defs: definitions }) }
}

const sentenceOf = ({ details, more }: Violations.Violations): string =>
  [
    ...details.map(({ message, path }) => `${path === "" ? "The input" : `\`${path}\``} ${message}.`),
    ...(more === 0 ? [] : [`There are ${more} more errors.`]),
  ].join(" ")

/** Calls the API. A refusal becomes a sentence. */
export const ask = <A>(request: (signal: AbortSignal) => Promise<A>): Effect.Effect<A, ToolRefusal> =>
  Effect.tryPromise({ try: request, catch: (cause) => new ToolRefusal({ message: refusalOf(cause) }) })

/** Calls the API for an object that may not exist. */
export const askFor = <A>(request: (signal: AbortSignal) => Promise<A>): Effect.Effect<A | undefined, ToolRefusal> =>
  ask((signal) =>
    request(signal).catch((cause: unknown) => {
      if (cause instanceof WaybillError && cause.status === 404) return undefined
      throw cause
    }),
  )

const refusalOf = (cause: unknown): string => {
  if (!(cause instanceof WaybillError)) return "The request failed by an error of this program."
  const details = cause.details
    .filter(({ path }) => path !== "")
    .map(({ message, path }) => `\`${path}\` ${message}.`)
    .join(" ")
  const advice = {
    unauthorized: "Check WAYBILL_KEY: the key is unknown, revoked or expired.",
    connection_failed: "Check WAYBILL_URL, and that the service runs.",
    rate_limited: cause.retryAfter === null ? "" : `Wait ${cause.retryAfter} seconds.`,
  }[cause.code as string]
  return [asSentence(cause.message), details, advice].filter((part) => part !== undefined && part !== "").join(" ")
}

const asSentence = (text: string): string => {
  const upper = `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
  return /[.!?]$/u.test(upper) ? upper : `${upper}.`
}
