import { useQueries } from "@tanstack/react-query"
import { useEffect, useState } from "react"
import * as Queries from "../../api/Queries.ts"
import type { Email, Page } from "../../api/Records.ts"
import type { EmailFilters } from "./EmailFilters.ts"
import { useHasScope } from "../../session/useHasScope.ts"

/** Number of emails that the palette shows; the list has the others. */
const MAX_HITS = 5
/** Shortest text that is searched while it is typed. An index finds parts of three letters. */
const MIN_CHARS = 3
/** Longest text that the API searches for, without its quotes. */
const MAX_CHARS = 198
/** Delay of a search after the last key. */
const DELAY_MS = 300

const NONE: ReadonlyArray<Email> = []

export interface EmailHits {
  /** The text of the search that found them, or of the first. */
  readonly text: string
  readonly emails: ReadonlyArray<Email>
  /** Whether older emails have the text too. */
  readonly hasMore: boolean
  /** Whether a search for the text is still to be answered. */
  readonly isPending: boolean
  /** Whether it was answered. */
  readonly isSearched: boolean
}

/** A text to search for, and the filters that it is. */
export interface Sought {
  readonly text: string
  readonly filters: EmailFilters
}

/** Finds the newest emails of the first search that finds any, once typing of the first text pauses. */
export const useEmailHits = (searches: ReadonlyArray<Sought>): EmailHits => {
  const text = searches[0]?.text ?? ""
  const [searched, setSearched] = useState("")
  useEffect(() => {
    const timer = setTimeout(() => setSearched(text), DELAY_MS)
    return () => clearTimeout(timer)
  }, [text])
  const canRead = useHasScope("email:logs:read")
  const canSearch = canRead && text.length >= MIN_CHARS && text.length <= MAX_CHARS
  const isAsked = canSearch && searched === text
  const answers = useQueries({
    queries: searches.map(({ filters }) => ({
      ...Queries.read<Page<Email>>(["email hits", filters], "/email/logs", { ...filters, limit: MAX_HITS }),
      enabled: isAsked,
    })),
  })
  const nth = Math.max(
    0,
    answers.findIndex(({ data }) => (data?.data.length ?? 0) > 0),
  )
  const page = isAsked ? answers[nth]?.data : undefined
  return {
    text: searches[nth]?.text ?? "",
    emails: page?.data ?? NONE,
    hasMore: page?.has_more ?? false,
    isPending: canSearch && (searched !== text || answers.some(({ isFetching }) => isFetching)),
    isSearched: page !== undefined,
  }
}
