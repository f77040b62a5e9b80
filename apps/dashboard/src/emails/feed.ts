import { type InfiniteData, infiniteQueryOptions, useQueryClient } from "@tanstack/react-query"
import { useEffect, useRef, useState } from "react"
import { type Liveness, useLive } from "../api/live.ts"
import type { Email, Page } from "../api/records.ts"
import { get } from "../api/request.ts"
import { useMay } from "../shell/useSession.ts"
import type { EmailSearch } from "./search.ts"

const PAGE = 50
/** Logs may be asked for sixty times a minute; a tail takes half of that at most, and leaves the rest to the reader. */
const TAIL_MS = 2_000
/** Without the right to the stream the log is asked instead. */
const POLL_MS = 5_000
/** Rows further down whose state changed, looked up one by one; more of them are seen when the list is opened again. */
const MAX_LOOKED_UP = 5

type Data = InfiniteData<Page<Email>, string | undefined>

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

/** What is newer in front, what is known replaced. */
const merged = (data: Data, fresh: ReadonlyArray<Email>): Data => {
  const byId = new Map(fresh.map((email) => [email.id as string, email]))
  const pages = data.pages.map((page) => ({
    ...page,
    data: page.data.map((email) => {
      const newer = byId.get(email.id)
      byId.delete(email.id)
      return newer === undefined || newer.version < email.version ? email : newer
    }),
  }))
  const [first, ...rest] = pages
  const newest = first?.data[0]?.id ?? ""
  const arrived = fresh.filter(({ id }) => byId.has(id) && id > newest)
  return first === undefined || arrived.length === 0
    ? { ...data, pages }
    : { ...data, pages: [{ ...first, data: [...arrived, ...first.data] }, ...rest] }
}

export interface Tail {
  readonly liveness: Liveness
  /** Which rows came in while the list was open. */
  readonly arrived: ReadonlySet<string>
}

/** Keeps the list true while it is looked at: by the stream of events, or by asking now and then. */
export const useTail = (search: EmailSearch, enabled: boolean): Tail => {
  const client = useQueryClient()
  const isAdmin = useMay("admin")
  const [arrived, setArrived] = useState<ReadonlySet<string>>(new Set())
  const changed = useRef(new Set<string>())
  const timer = useRef<number | undefined>(undefined)
  const key = emails(search).queryKey

  const catchUp = async () => {
    timer.current = undefined
    const ids = new Set(changed.current)
    changed.current.clear()
    const before = client.getQueryData<Data>(key)
    if (before === undefined) return
    const known = new Set(before.pages.flatMap(({ data }) => data.map(({ id }) => id as string)))
    const page = await get<Page<Email>>("/email/logs", { ...search, limit: PAGE })
    const seen = new Set(page.data.map(({ id }) => id as string))
    const further = [...ids].filter((id) => known.has(id) && !seen.has(id)).slice(0, MAX_LOOKED_UP)
    const others = await Promise.all(further.map((id) => get<Email>(`/email/logs/${id}`).catch(() => undefined)))
    const fresh = [...page.data, ...others.filter((each) => each !== undefined)]
    client.setQueryData<Data>(key, (data) => (data === undefined ? data : merged(data, fresh)))
    const newest = before.pages[0]?.data[0]?.id ?? ""
    const news = page.data.filter(({ id }) => id > newest && !known.has(id)).map(({ id }) => id as string)
    if (news.length > 0) setArrived((all) => new Set([...all, ...news]))
  }
  const soon = () => {
    timer.current ??= window.setTimeout(
      () => void catchUp().catch(() => undefined),
      changed.current.size > 1 ? TAIL_MS : TAIL_MS / 4,
    )
  }
  useEffect(() => () => window.clearTimeout(timer.current), [])

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
  return { liveness: enabled && !isAdmin ? "live" : liveness, arrived }
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
