import { useInfiniteQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { Ban, Plus, SearchX } from "lucide-react"
import { useState } from "react"
import * as Queries from "../api/Queries.ts"
import type { Suppression } from "../api/Records.ts"
import { useHasScope } from "../shell/useHasScope.ts"
import { Badge } from "../ui/display/Badge.tsx"
import { Button } from "../ui/controls/Button.tsx"
import { FilterSelect } from "../ui/controls/FilterSelect.tsx"
import { SearchField } from "../ui/controls/SearchField.tsx"
import { Dialog } from "../ui/feedback/Dialog.tsx"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { PagedRows } from "../ui/layout/PagedRows.tsx"
import { type Column, Table } from "../ui/layout/Table.tsx"
import { Screen } from "../ui/layout/Screen.tsx"
import { defined } from "../api/defined.ts"
import { RelativeTime } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { AddSuppression } from "./AddSuppression.tsx"
import { useRemoveSuppression } from "./useRemoveSuppression.ts"

const REASONS: { readonly [R in Suppression["reason"]]: string } = {
  hard_bounce: "Hard bounce",
  complaint: "Complaint",
  manual: "Manual",
  unsubscribe: "Unsubscribe",
}
const REASON_CHOICES = Object.entries(REASONS).map(([value, name]) => ({ value, name }))

export const Suppressions = () => {
  const search = useSearch({ from: "/shell/suppressions" })
  const navigate = useNavigate({ from: "/suppressions" })
  const canEdit = useHasScope("suppressions:write")
  const [adding, setAdding] = useState(false)
  const { q, reason } = search
  const isFiltered = q !== undefined || reason !== undefined
  const list = Queries.suppressions({ ...(q === undefined ? {} : { q }), ...(reason === undefined ? {} : { reason }) })
  const query = useInfiniteQuery(list)
  const removal = useRemoveSuppression(list.queryKey)
  const change = (next: { readonly q?: string | undefined; readonly reason?: string | undefined }) =>
    void navigate({ search: defined({ ...search, ...next }), replace: true })
  return (
    <Screen
      title="Suppressions"
      hint="Addresses that receive no email: they bounced, complained, unsubscribed or were added here."
      actions={
        canEdit ? (
          <Button variant="primary" icon={<Plus size={15} />} onClick={() => setAdding(true)}>
            Add suppression
          </Button>
        ) : undefined
      }
    >
      <div className="flex flex-wrap items-center gap-2">
        <SearchField
          label="Search suppressions"
          placeholder="Part of an address"
          value={q ?? ""}
          onChange={(text) => change({ q: text })}
        />
        <FilterSelect
          label="Reason"
          choices={REASON_CHOICES}
          selected={reason === undefined ? [] : [reason]}
          onChange={([next]) => change({ reason: next })}
        />
      </div>
      <PagedRows
        query={query}
        empty={
          isFiltered ? (
            <EmptyState
              icon={<SearchX size={20} />}
              title="No suppressions match your filters"
              action={<Button onClick={() => change({ q: undefined, reason: undefined })}>Clear filters</Button>}
            >
              Email to other addresses is sent as usual.
            </EmptyState>
          ) : (
            <EmptyState icon={<Ban size={20} />} title="No suppressions yet">
              Addresses are added automatically after a hard bounce, a complaint or an unsubscribe. Add one to stop
              sending to it.
            </EmptyState>
          )
        }
      >
        {(rows) => (
          <Table
            label="Suppressions"
            rows={rows}
            keyOf={({ id }) => id}
            columns={columnsOf(canEdit ? (each) => removal.mutate(each) : undefined)}
          />
        )}
      </PagedRows>
      <Dialog open={adding} onOpenChange={setAdding} title="Add suppression">
        <AddSuppression onDone={() => setAdding(false)} />
      </Dialog>
    </Screen>
  )
}

/** Returns the columns; without `onRemove` the user may not change suppressions. */
const columnsOf = (onRemove: ((suppression: Suppression) => void) | undefined): ReadonlyArray<Column<Suppression>> => [
  {
    name: "Address",
    main: true,
    cell: ({ email }) => (
      <span className="block truncate font-medium">
        <UntrustedText text={email} />
      </span>
    ),
  },
  {
    name: "Reason",
    cell: ({ reason }) => (
      <Badge tone={reason === "complaint" || reason === "hard_bounce" ? "bad" : "neutral"}>{REASONS[reason]}</Badge>
    ),
  },
  {
    name: "Caused by",
    wide: true,
    cell: ({ email_id }) =>
      email_id === null ? (
        <span className="text-xs text-ink-3">–</span>
      ) : (
        <Link
          to="/emails/$id"
          params={{ id: email_id }}
          className="text-xs whitespace-nowrap text-accent hover:underline"
        >
          View email
        </Link>
      ),
  },
  {
    name: "Added",
    number: true,
    wide: true,
    cell: ({ created_at }) => (
      <span className="text-xs text-ink-3">
        <RelativeTime iso={created_at} />
      </span>
    ),
  },
  ...(onRemove === undefined
    ? []
    : [
        {
          name: "Actions",
          hiddenName: true,
          number: true,
          cell: (suppression: Suppression) => (
            <Button small aria-label={`Remove ${suppression.email}`} onClick={() => onRemove(suppression)}>
              Remove
            </Button>
          ),
        },
      ]),
]
