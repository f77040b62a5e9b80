import { useQuery } from "@tanstack/react-query"
import { useEffect, useState } from "react"
import * as Api from "../../api/Api.ts"
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
  readonly emails: ReadonlyArray<Email>
  /** Whether older emails have the text too. */
  readonly hasMore: boolean
  /** Whether a search for the text is still to be answered. */
  readonly isPending: boolean
  /** Whether it was answered. */
  readonly isSearched: boolean
}

/** Finds the newest emails that a text finds, understood as filters, once typing pauses. */
export const useEmailHits = (text: string, filters: EmailFilters): EmailHits => {
  const [searched, setSearched] = useState("")
  useEffect(() => {
    const timer = setTimeout(() => setSearched(text), DELAY_MS)
    return () => clearTimeout(timer)
  }, [text])
  const canRead = useHasScope("email:logs:read")
  const canSearch = canRead && text.length >= MIN_CHARS && text.length <= MAX_CHARS
  const { data, isFetching } = useQuery({
    queryKey: ["email hits", filters],
    queryFn: ({ signal }) => Api.get<Page<Email>>("/email/logs", { ...filters, limit: MAX_HITS }, signal),
    enabled: canSearch && searched === text,
  })
  const page = canSearch && searched === text ? data : undefined
  return {
    emails: page?.data ?? NONE,
    hasMore: page?.has_more ?? false,
    isPending: canSearch && (searched !== text || isFetching),
    isSearched: page !== undefined,
  }
}
