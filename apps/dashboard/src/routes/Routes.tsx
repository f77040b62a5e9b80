import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { Plus, Signpost } from "lucide-react"
import { type DragEvent, useState } from "react"
import * as Api from "../api/Api.ts"
import * as Queries from "../api/Queries.ts"
import type { InboundRoute, Page } from "../api/Records.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { Button } from "../ui/controls/Button.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { ConfirmDialog } from "../ui/feedback/ConfirmDialog.tsx"
import { Dialog } from "../ui/feedback/Dialog.tsx"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import * as OptimisticUpdate from "../ui/feedback/OptimisticUpdate.ts"
import { showError, showToast } from "../ui/feedback/Toasts.tsx"
import { Screen } from "../ui/layout/Screen.tsx"
import { ReceivingAddresses } from "./ReceivingAddresses.tsx"
import { conditionsOf, wordsOf } from "./RouteActions.tsx"
import { RouteForm } from "./RouteForm.tsx"
import * as RouteQueries from "./RouteQueries.ts"
import { RouteRow } from "./RouteRow.tsx"
import { RouteTest } from "./RouteTest.tsx"
import { positionsAfterMove } from "./positionsAfterMove.ts"
import { RowsPanel } from "../ui/layout/RowsPanel.tsx"
import { useListSearch } from "../ui/layout/useListSearch.ts"

/** Rules for received mail, in the order in which they are tried. */
export const Routes = () => {
  const { isCreating, setCreating } = useListSearch()
  const query = useQuery(RouteQueries.list)
  const canReadWebhooks = useHasScope("webhooks:manage")
  const webhooks = useQuery({ ...Queries.webhooks, enabled: canReadWebhooks }).data?.data ?? []
  const [editing, setEditing] = useState<InboundRoute>()
  const [removing, setRemoving] = useState<InboundRoute>()
  const changes = useRouteChanges()
  const drag = useDrag((from, to) => changes.move(rows[from]?.id ?? "", () => to))
  const rows = query.data?.data ?? []
  const button = (
    <Button variant="primary" icon={<Plus size={15} />} onClick={() => setCreating(true)}>
      Create route
    </Button>
  )
  return (
    <Screen
      title="Routes"
      hint="Rules for received mail. All that match apply in this order, until one that stops."
      actions={button}
    >
      <RowsPanel
        query={query}
        rows={rows}
        empty={
          <EmptyState icon={<Signpost size={20} />} title="No routes yet" action={button}>
            Without a route, mail is stored under Received, and every webhook that subscribes to received mail is
            called. Create a route to call one webhook, reject, drop or only store mail.
          </EmptyState>
        }
      >
        {() => (
          <ol aria-label="Routes" className="divide-y divide-line">
            {rows.map((route, index) => (
              <RouteRow
                key={route.id}
                route={route}
                webhooks={webhooks}
                index={index}
                count={rows.length}
                isDropTarget={drag.over === index}
                onDrag={(event, phase) => drag.on(event, phase, index)}
                onMove={(step) => changes.move(route.id, (from) => from + step)}
                onEdit={() => setEditing(route)}
                onEnable={(enabled) => changes.enable(route, enabled)}
                onRemove={() => setRemoving(route)}
              />
            ))}
          </ol>
        )}
      </RowsPanel>
      <p role="status" className="sr-only">
        {changes.announcement}
      </p>
      {rows.length === 0 ? undefined : <RouteTest routes={rows} webhooks={webhooks} />}
      <ReceivingAddresses />
      <Dialog open={isCreating} onClose={() => setCreating(false)} title="Create route">
        <RouteForm webhooks={webhooks} onDone={() => setCreating(false)} />
      </Dialog>
      <Dialog open={editing !== undefined} onClose={() => setEditing(undefined)} title="Edit route">
        <RouteForm key={editing?.id} route={editing} webhooks={webhooks} onDone={() => setEditing(undefined)} />
      </Dialog>
      <ConfirmDialog
        open={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        title="Delete route?"
        action="Delete route"
        onConfirm={async () => {
          if (removing !== undefined) await changes.remove(removing)
        }}
      >
        {removing === undefined ? undefined : (
          <UntrustedText text={`${conditionsOf(removing.match)} → ${wordsOf(removing, webhooks)}. `} />
        )}
        It applies to no further mail.
      </ConfirmDialog>
    </Screen>
  )
}

/** Changes of the list, shown before the server has accepted them. */
const useRouteChanges = () => {
  const client = useQueryClient()
  const { queryKey } = RouteQueries.list
  const [announcement, setAnnouncement] = useState("")
  const refresh = () => client.invalidateQueries({ queryKey })
  const change = (next: (rows: ReadonlyArray<InboundRoute>) => ReadonlyArray<InboundRoute>) =>
    OptimisticUpdate.apply<Page<InboundRoute>>(client, queryKey, (page) => ({ ...page, data: next(page.data) }))
  const enabling = useMutation({
    mutationFn: ({ enabled, id }: Pick<InboundRoute, "enabled" | "id">) =>
      Api.patch<InboundRoute>(`/inbound/routes/${id}`, { enabled }),
    onMutate: ({ enabled, id }) => change((rows) => rows.map((each) => (each.id === id ? { ...each, enabled } : each))),
    onSuccess: ({ enabled, id }) =>
      showToast(enabled ? "Route enabled." : "Route disabled.", () => enabling.mutate({ id, enabled: !enabled })),
    onError: OptimisticUpdate.rollBack,
    onSettled: refresh,
  })
  const moving = useMutation({
    mutationKey: MOVE,
    // One move after the other: the positions of the next one follow from those of this one.
    scope: { id: "routes" },
    mutationFn: async ({ positions }: Move) => {
      for (const { id, position } of positions) await Api.patch<InboundRoute>(`/inbound/routes/${id}`, { position })
    },
    onSuccess: (_, { to, count }) => setAnnouncement(`Moved to ${to + 1} of ${count}.`),
    onError: showError,
    // The order that the server has between several moves is not shown.
    onSettled: () => (client.isMutating({ mutationKey: MOVE }) === 1 ? refresh() : undefined),
  })
  /** Moves a route from the place that it has now, which may be newer than the one on the screen, and shows that at once. */
  const move = (id: string, placeOf: (from: number) => number) => {
    const page = client.getQueryData<Page<InboundRoute>>(queryKey)
    if (page === undefined) return
    const from = page.data.findIndex((each) => each.id === id)
    const to = placeOf(from)
    if (from === -1 || to < 0 || to >= page.data.length || to === from) return
    const positions = positionsAfterMove(page.data, from, to)
    const placed = page.data.map((each) => ({
      ...each,
      position: positions.find((moved) => moved.id === each.id)?.position ?? each.position,
    }))
    const data = placed.toSorted((a, b) => a.position - b.position || (a.id < b.id ? -1 : 1))
    void client.cancelQueries({ queryKey, exact: true }, { revert: false })
    client.setQueryData<Page<InboundRoute>>(queryKey, { ...page, data })
    moving.mutate({ positions, to, count: data.length })
  }
  return {
    announcement,
    enable: ({ id }: InboundRoute, enabled: boolean) => enabling.mutate({ id, enabled }),
    move,
    remove: async ({ id }: InboundRoute) => {
      await Api.remove(`/inbound/routes/${id}`)
      await refresh()
      showToast("Route deleted.")
    },
  }
}

const MOVE = ["move route"]

interface Move {
  readonly positions: ReturnType<typeof positionsAfterMove>
  readonly to: number
  readonly count: number
}

/** The row that is dragged, and the row under the pointer, which it takes the place of. */
const useDrag = (onDrop: (from: number, to: number) => void) => {
  const [from, setFrom] = useState<number>()
  const [over, setOver] = useState<number>()
  return {
    over: from === over ? undefined : over,
    on: (event: DragEvent, phase: "start" | "over" | "drop" | "end", index: number) => {
      if (phase === "start") {
        event.dataTransfer.effectAllowed = "move"
        return setFrom(index)
      }
      if (from === undefined) return
      event.preventDefault()
      if (phase === "over") return setOver(index)
      if (phase === "drop" && from !== index) onDrop(from, index)
      setFrom(undefined)
      setOver(undefined)
    },
  }
}
