import { useMutation, useQueryClient, type QueryKey } from "@tanstack/react-query"
import { useEffect } from "react"
import * as Api from "../api/Api.ts"
import * as PagedList from "../api/PagedList.ts"
import type { Page } from "../api/Records.ts"
import type * as EventStream from "../live/EventStream.ts"
import { useEventStream } from "../live/useEventStream.ts"
import { useThrottle } from "../live/useThrottle.ts"
import * as OptimisticUpdate from "../ui/feedback/OptimisticUpdate.ts"
import { useHasScope } from "./useHasScope.ts"
import { useListKeys } from "../ui/controls/useListKeys.ts"

/** Mails that arrive within this time are read together. */
const DEBOUNCE_MS = 400
/** Time per request of live updates: half of what a key may read, the rest is left to the user. */
const UPDATE_INTERVAL_MS = 2_000
/** Refetch interval for users without access to the event stream. */
const POLL_MS = 5_000

interface MailList<Row> {
  readonly queryKey: QueryKey
  readonly fetchPage: (after: string | undefined) => Promise<Page<Row>>
  /** Events by which mails come. */
  readonly types: ReadonlyArray<EventStream.Type>
  /** Path of one mail of the API is this and its id. */
  readonly path: string
  readonly rows: ReadonlyArray<Row>
  readonly select: (row: Row | undefined) => void
}

/** Keeps a list of mail current, and follows the keyboard in it. Returns what deletes a mail. */
export const useMailList = <Row extends PagedList.Row>(list: MailList<Row>): ((id: string) => void) => {
  const { fetchPage, path, queryKey, rows, select, types } = list
  const client = useQueryClient()
  const canStream = useHasScope("events:read")
  const update = async () => {
    const known = client.getQueryData<PagedList.PagedList<Row>>(queryKey)
    if (known === undefined) return 1
    const pages = await PagedList.fetchNewest(known, fetchPage)
    client.setQueryData<PagedList.PagedList<Row>>(
      queryKey,
      (current) => current && PagedList.merge(current, { pages, canShrink: true }),
    )
    return pages.length
  }
  const { trigger } = useThrottle(update, { interval_ms: UPDATE_INTERVAL_MS, debounce_ms: DEBOUNCE_MS })
  useEventStream({ types, enabled: canStream, onStart: trigger, onEvent: trigger })
  useEffect(() => {
    if (canStream) return undefined
    const poll = window.setInterval(trigger, POLL_MS)
    return () => window.clearInterval(poll)
  }, [canStream, trigger])
  const keyIndex = useListKeys(rows.length, {
    open: (index) => select(rows[index]),
    show: (index) => select(rows[index]),
  })
  useEffect(() => {
    if (keyIndex >= 0) document.getElementById(`mail-${rows[keyIndex]?.id ?? ""}`)?.scrollIntoView({ block: "nearest" })
  }, [keyIndex, rows])
  const deletion = useMutation({
    mutationFn: (id: string) => Api.remove(`${path}${id}`),
    onMutate: (id) => {
      select(undefined)
      return OptimisticUpdate.apply(client, queryKey, OptimisticUpdate.withoutRow<Row>(id))
    },
    onSuccess: trigger,
    onError: OptimisticUpdate.rollBack,
  })
  return deletion.mutate
}
