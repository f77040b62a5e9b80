import { Effect } from "effect"
import * as Words from "../../webhookFormats/PostmarkWords.ts"
import * as Respelling from "../Respelling.ts"
import * as Refusals from "./Refusals.ts"

/** Returns the query of our own list, without the filters that are absent. */
export const native = (filters: Readonly<Record<string, string | null | undefined>>): URLSearchParams =>
  new URLSearchParams(Object.entries(filters).flatMap(([name, value]) => (value ? [[name, value]] : [])))

/** Refuses another stream than the one that there is. */
export const checkStream = (query: URLSearchParams) => checkStreamName(query.get("messagestream") ?? Words.STREAM)

export const checkStreamName = (stream: string) =>
  stream === Words.STREAM ? Effect.void : Effect.fail(new Refusals.StreamNotFound({ stream }))

/** Parameters that most lists have. */
export const LIST = ["count", "offset", "fromdate", "todate", "messagestream"]

const NAMES: Readonly<Record<string, string>> = {
  to: "recipient",
  from: "fromemail",
  created_after: "fromdate",
  created_before: "todate",
}

/** Calls filters in refusals of our own lists as Postmark calls them. */
export const respelled = Respelling.renamed(NAMES)

/**
 * Puts the parameters of a query in the spelling of Postmark's documentation, because its clients differ in the case, and
 * those of the metadata, `metadata_order=7`, as parameters of ours, `metadata.order=7`, of one name.
 */
export const normalized = (query: URLSearchParams): URLSearchParams =>
  new URLSearchParams(
    [...query].map(([name, value]) => {
      const metadata = /^metadata_(.+)$/iu.exec(name)
      return metadata === null
        ? [name.toLowerCase(), value]
        : ["metadata", new URLSearchParams([[`metadata.${metadata[1]}`, value]]).toString()]
    }),
  )
