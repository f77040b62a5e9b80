import { useQueryClient } from "@tanstack/react-query"
import { useEffect, useRef, useState } from "react"
import * as Api from "../api/Api.ts"
import { ApiError } from "../api/ApiError.ts"
import * as Paths from "../api/Paths.ts"
import * as Queries from "../api/Queries.ts"
import * as PagedList from "../api/PagedList.ts"
import type { Email, Page } from "../api/Records.ts"
import * as EventStream from "../live/EventStream.ts"
import { useEventStream } from "../live/useEventStream.ts"
import { useThrottle } from "../live/useThrottle.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { type EmailFilters, hasOutcome, isFiltered } from "./search/EmailFilters.ts"

/** Time per request of live updates. Keys may read logs 60 times a minute; this leaves half of that to the user. */
const UPDATE_INTERVAL_MS = 2_000
/** An email and its delivery usually arrive within this time and are read together. */
const DEBOUNCE_MS = 500
/** Refetch interval for users without access to the event stream. */
const POLL_MS = 5_000
/** Older rows with a new status that one update reads, one request each. */
const MAX_OLDER_ROWS = 5

/** Reads a page. The first one without filters counts all emails, which takes one statement; searches count apart. */
const readPage = (filters: EmailFilters, after: string | undefined, signal?: AbortSignal) => {
  const count = after === undefined && Object.keys(filters).length === 0 ? "true" : undefined
  return Api.get<Page<Email>>("/email/logs", { ...filters, limit: Paths.PAGE, after, count }, signal)
}

export const emailListQuery = (filters: EmailFilters) => ({
  ...Queries.pages(["emails", filters], (after, signal) => readPage(filters, after, signal)),
  // A refetch would read all pages one after another; `useLiveEmails` updates the list instead.
  staleTime: 60_000,
  refetchOnWindowFocus: false,
})

export type LiveState = EventStream.State | "rate-limited"

interface LiveEmails {
  readonly state: LiveState
  /** Ids of rows that arrived while the list was open. */
  readonly newIds: ReadonlySet<string>
}

/** Updates the list while it is shown: after events of the stream, or by polling for users without access to it. */
export const useLiveEmails = (filters: EmailFilters, enabled: boolean): LiveEmails => {
  const client = useQueryClient()
  const canStream = useHasScope("events:read")
  const [newIds, setNewIds] = useState<ReadonlySet<string>>(new Set())
  const changedIds = useRef(new Set<string>())
  const key = emailListQuery(filters).queryKey

  const update = async () => {
    const list = client.getQueryData<PagedList.PagedList<Email>>(key)
    if (list === undefined) return 1
    const changed = [...changedIds.current]
    changedIds.current.clear()
    try {
      const pages = await PagedList.fetchNewest(list, (after) => readPage(filters, after))
      const listed = new Set(PagedList.rowsOf(list).map(({ id }) => id as string))
      const older = changed.filter((id) => listed.has(id) && id < PagedList.lowestId(pages))
      const toRead = older.slice(0, MAX_OLDER_ROWS)
      const olderRows = new Map(await Promise.all(toRead.map((id) => readRow(id, filters))).then((all) => all.flat()))
      client.setQueryData<PagedList.PagedList<Email>>(
        key,
        (current) => current && PagedList.merge(current, { pages, olderRows, canShrink: isFiltered(filters) }),
      )
      const newest = PagedList.rowsOf(list)[0]?.id ?? ""
      const added = PagedList.rowsOf({ pages }).filter(({ id }) => id > newest)
      if (added.length > 0) setNewIds((all) => new Set([...all, ...added.map(({ id }) => id)]))
      for (const id of older.slice(MAX_OLDER_ROWS)) changedIds.current.add(id)
      if (changedIds.current.size > 0) trigger()
      return pages.length + toRead.length
    } catch (error) {
      for (const id of changed) changedIds.current.add(id)
      throw error
    }
  }
  const { isRateLimited, trigger } = useThrottle(update, { interval_ms: UPDATE_INTERVAL_MS, debounce_ms: DEBOUNCE_MS })

  const streamState = useEventStream({
    types: EMAIL_EVENT_TYPES,
    enabled: enabled && canStream,
    onStart: trigger,
    onEvent: ({ stream_id }) => {
      changedIds.current.add(stream_id)
      trigger()
    },
  })
  useEffect(() => {
    if (!enabled || canStream) return undefined
    const poll = window.setInterval(trigger, POLL_MS)
    return () => window.clearInterval(poll)
  })
  const state = enabled && !canStream ? "live" : streamState
  return { state: state === "live" && isRateLimited ? "rate-limited" : state, newIds }
}

/** Reads one row. The row is `undefined` if its status no longer matches the filter. */
const readRow = async (
  id: string,
  filters: EmailFilters,
): Promise<ReadonlyArray<readonly [string, Email | undefined]>> => {
  const email = await Api.get<Email>(`/email/logs/${id}`).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  })
  if (email === undefined) return []
  return [[id, hasOutcome(email, filters, Date.now()) ? email : undefined]]
}

/** Events that change a row of the list: all that a screen can follow. */
export const EMAIL_EVENT_TYPES = EventStream.TYPES
