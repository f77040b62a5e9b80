import { infiniteQueryOptions, useQueryClient } from "@tanstack/react-query"
import { useEffect, useRef, useState } from "react"
import { type Liveness, useLive } from "../api/useEventStream.ts"
import type { Email, Page } from "../api/Records.ts"
import { merged, newsOf, reachOf, type Rows, rowsOf } from "../api/PagedList.ts"
import { get, Refused } from "../api/Api.ts"
import { usePaced } from "../api/useThrottle.ts"
import { useMay } from "../shell/useSession.ts"
import { type EmailSearch, isFiltered } from "./EmailFilters.ts"

const PAGE = 50
/** Logs may be asked for sixty times a minute; a tail takes half of that at most, and leaves the rest to the reader. */
const TAIL_MS = 2_000
/** A message and its delivery come in together. */
const GATHER_MS = 500
/** Without the right to the stream the log is asked instead. */
const POLL_MS = 5_000
/** Rows further down whose state changed, looked up one by one, so many at a time. */
const MAX_LOOKED_UP = 5

export const emails = (search: EmailSearch) =>
  infiniteQueryOptions({
    queryKey: ["emails", search],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      get<Page<Email>>("/email/logs", { ...search, limit: PAGE, after: pageParam }, signal),
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    // All pages would be asked for again, one after another; the tail keeps the list true instead.
    staleTime: 60_000,
    refetchOnWindowFocus: false,
  })

export interface Tail {
  /** Held while the server asks to be left alone: what the list shows is not of this moment. */
  readonly liveness: Liveness | "held"
  /** Which rows came in while the list was open. */
  readonly arrived: ReadonlySet<string>
}

/** Keeps the list true while it is looked at: by the stream of events, or by asking now and then. */
export const useTail = (search: EmailSearch, enabled: boolean): Tail => {
  const client = useQueryClient()
  const isAdmin = useMay("admin")
  const [arrived, setArrived] = useState<ReadonlySet<string>>(new Set())
  const changed = useRef(new Set<string>())
  const key = emails(search).queryKey

  const catchUp = async () => {
    const before = client.getQueryData<Rows<Email>>(key)
    if (before === undefined) return 1
    const ids = [...changed.current]
    changed.current.clear()
    try {
      const pages = await newsOf(before, (after) => get("/email/logs", { ...search, limit: PAGE, after }))
      const known = new Set(rowsOf(before).map(({ id }) => id as string))
      const further = ids.filter((id) => known.has(id) && id < reachOf(pages))
      const asked = further.slice(0, MAX_LOOKED_UP)
      const others = new Map(await Promise.all(asked.map((id) => lookUp(id, search))).then((all) => all.flat()))
      client.setQueryData<Rows<Email>>(
        key,
        (data) => data && merged(data, { pages, others, isLeft: isFiltered(search) }),
      )
      const newest = rowsOf(before)[0]?.id ?? ""
      const news = rowsOf({ pages }).filter(({ id }) => id > newest)
      if (news.length > 0) setArrived((all) => new Set([...all, ...news.map(({ id }) => id)]))
      for (const id of further.slice(MAX_LOOKED_UP)) changed.current.add(id)
      if (changed.current.size > 0) soon()
      return pages.length + asked.length
    } catch (error) {
      for (const id of ids) changed.current.add(id)
      throw error
    }
  }
  const { ask: soon, isHeld } = usePaced(catchUp, { every_ms: TAIL_MS, gather_ms: GATHER_MS })

  const liveness = useLive({
    types: EMAIL_TYPES,
    enabled: enabled && isAdmin,
    onBegin: soon,
    onEvent: ({ stream_id }) => {
      changed.current.add(stream_id)
      soon()
    },
  })
  useEffect(() => {
    if (!enabled || isAdmin) return undefined
    const poll = window.setInterval(soon, POLL_MS)
    return () => window.clearInterval(poll)
  })
  const shown = enabled && !isAdmin ? "live" : liveness
  return { liveness: shown === "live" && isHeld ? "held" : shown, arrived }
}

/** As it is now; one that does not have the status any more that was asked for is none of the list. */
const lookUp = async (
  id: string,
  { status }: EmailSearch,
): Promise<ReadonlyArray<readonly [string, Email | undefined]>> => {
  const email = await get<Email>(`/email/logs/${id}`).catch((error: unknown) => {
    if (error instanceof Refused && error.status === 404) return undefined
    throw error
  })
  if (email === undefined) return []
  return [[id, status === undefined || email.status === status ? email : undefined]]
}

export const EMAIL_TYPES = [
  "email.queued",
  "email.sent",
  "email.delivered",
  "email.delivery_delayed",
  "email.bounced",
  "email.complained",
  "email.failed",
  "email.suppressed",
  "email.canceled",
  "email.rescheduled",
]
