import { useInfiniteQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { Ban, Download, MoreHorizontal, Plus, Upload } from "lucide-react"
import { useState } from "react"
import * as Queries from "../api/Queries.ts"
import type { Suppression } from "../api/Records.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { Badge } from "../ui/display/Badge.tsx"
import { Button, IconButton } from "../ui/controls/Button.tsx"
import { DateFilter } from "../ui/controls/DateFilter.tsx"
import { ChoiceFilter } from "../ui/controls/FilterSelect.tsx"
import { Menu } from "../ui/controls/Menu.tsx"
import { SearchField, useTypedText } from "../ui/controls/SearchField.tsx"
import { Dialog } from "../ui/feedback/Dialog.tsx"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { PagedRows } from "../ui/layout/PagedRows.tsx"
import { type Column, Table } from "../ui/layout/Table.tsx"
import { Screen } from "../ui/layout/Screen.tsx"
import { defined } from "../api/defined.ts"
import { RelativeTime } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { AddSuppression } from "./AddSuppression.tsx"
import { ExportSuppressions } from "./ExportSuppressions.tsx"
import { ImportSuppressions } from "./ImportSuppressions.tsx"
import * as SuppressionReason from "../ui/display/SuppressionReason.ts"
import { useAddedBy } from "./useAddedBy.ts"
import { useRemoveSuppression } from "./useRemoveSuppression.ts"
import { NoMatches } from "../ui/feedback/NoMatches.tsx"
import { FilterBar } from "../ui/layout/FilterBar.tsx"

const REASON_CHOICES = Object.entries(SuppressionReason.NAMES).map(([value, name]) => ({ value, name }))

const SOURCE_CHOICES = [
  { value: "email", name: "An email" },
  { value: "request", name: "Added by hand or API" },
]
const DIALOGS = { add: "Add suppression", import: "Import suppressions", export: "Export suppressions" }

export const Suppressions = () => {
  const search = useSearch({ from: "/shell/suppressions" })
  const navigate = useNavigate({ from: "/suppressions" })
  const canEdit = useHasScope("suppressions:write")
  const [opened, setOpened] = useState<keyof typeof DIALOGS>()
  const dialog = search.new === true && canEdit ? "add" : opened
  const { q, reason, since, source } = search
  const isFiltered = [q, reason, since, source].some((filter) => filter !== undefined)
  const filters = defined({ q, reason, source, created_after: since }) as Queries.SuppressionFilters
  const list = Queries.suppressions(filters)
  const query = useInfiniteQuery(list)
  const addedBy = useAddedBy()
  const removal = useRemoveSuppression(list.queryKey)
  const change = (next: Partial<Readonly<Record<"q" | "reason" | "since" | "source", string | undefined>>>) =>
    void navigate({ search: (current) => defined({ ...current, ...next }), replace: true })
  const typed = useTypedText(q ?? "", (text) => change({ q: text }))
  const setDialog = (next: keyof typeof DIALOGS | undefined) => {
    setOpened(next)
    if (search.new === true) void navigate({ search: ({ new: _, ...current }) => current, replace: true })
  }
  return (
    <Screen
      title="Suppressions"
      hint="Addresses that receive no email: they bounced, complained, unsubscribed or were added here."
      actions={
        <>
          {canEdit ? (
            <Button variant="primary" icon={<Plus size={15} />} onClick={() => setDialog("add")}>
              Add suppression
            </Button>
          ) : undefined}
          <Menu
            trigger={
              <IconButton label="More actions" className="border border-line-strong bg-raised">
                <MoreHorizontal size={16} />
              </IconButton>
            }
            items={[
              {
                name: "Export CSV",
                icon: <Download size={15} />,
                disabled: typed.isPending || query.data === undefined,
                onSelect: () => setDialog("export"),
              },
              ...(canEdit
                ? [{ name: "Import CSV", icon: <Upload size={15} />, onSelect: () => setDialog("import") }]
                : []),
            ]}
          />
        </>
      }
    >
      <FilterBar search={<SearchField label="Search suppressions" placeholder="Part of an address" typed={typed} />}>
        <ChoiceFilter
          label="Reason"
          choices={REASON_CHOICES}
          value={reason}
          onChange={(next) => change({ reason: next })}
        />
        <ChoiceFilter
          label="Source"
          choices={SOURCE_CHOICES}
          value={source}
          onChange={(next) => change({ source: next })}
        />
        <DateFilter label="Added since" value={since} onChange={(start) => change({ since: start })} />
      </FilterBar>
      <PagedRows
        query={query}
        isPending={typed.isPending}
        empty={
          isFiltered ? (
            <NoMatches name="suppressions" onClear={() => void navigate({ search: {}, replace: true })}>
              Email to other addresses is sent as usual.
            </NoMatches>
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
            isList
            label="Suppressions"
            rows={rows}
            keyOf={({ id }) => id}
            columns={columnsOf(addedBy, canEdit ? (each) => removal.mutate(each) : undefined)}
          />
        )}
      </PagedRows>
      <Dialog
        open={dialog !== undefined}
        onOpenChange={(isOpen) => (isOpen ? undefined : setDialog(undefined))}
        title={dialog === undefined ? "" : DIALOGS[dialog]}
      >
        {dialog === "add" ? (
          <AddSuppression address={search.new === true ? q : undefined} onDone={() => setDialog(undefined)} />
        ) : dialog === "import" ? (
          <ImportSuppressions onDone={() => setDialog(undefined)} />
        ) : dialog === "export" ? (
          <ExportSuppressions filters={filters} onDone={() => setDialog(undefined)} />
        ) : undefined}
      </Dialog>
    </Screen>
  )
}

interface CauseProps {
  readonly suppression: Suppression
  readonly addedBy: ReadonlyMap<string, string>
}

/** The email that caused a suppression, or who added it. */
const Cause = ({ addedBy, suppression: { email, email_id } }: CauseProps) =>
  email_id === null ? (
    <UntrustedText className="block max-w-52 truncate text-xs text-ink-2" text={addedBy.get(email) ?? "–"} />
  ) : (
    <Link to="/emails/$id" params={{ id: email_id }} className="text-xs whitespace-nowrap link">
      View email
    </Link>
  )

/** Returns the columns; without `onRemove` the user may not change suppressions. */
const columnsOf = (
  addedBy: ReadonlyMap<string, string>,
  onRemove: ((suppression: Suppression) => void) | undefined,
): ReadonlyArray<Column<Suppression>> => [
  {
    name: "Address",
    main: true,
    cell: (suppression) => (
      <>
        <UntrustedText className="block truncate font-medium" text={suppression.email} />
        {/* On a phone there are no columns for these. */}
        <span className="flex flex-wrap gap-x-2 text-xs text-ink-3 sm:hidden">
          <span>{SuppressionReason.NAMES[suppression.reason]}</span>
          <span>
            Added <RelativeTime iso={suppression.created_at} />
          </span>
          <Cause suppression={suppression} addedBy={addedBy} />
        </span>
      </>
    ),
  },
  {
    name: "Reason",
    wide: true,
    cell: ({ reason }) => (
      <Badge tone={reason === "complaint" || reason === "hard_bounce" ? "bad" : "neutral"}>
        {SuppressionReason.NAMES[reason]}
      </Badge>
    ),
  },
  {
    name: "Caused by",
    wide: true,
    cell: (suppression) => <Cause suppression={suppression} addedBy={addedBy} />,
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
            <Button
              small
              variant="ghost"
              className="-mr-2.5"
              aria-label={`Remove ${suppression.email}`}
              onClick={() => onRemove(suppression)}
            >
              Remove
            </Button>
          ),
        },
      ]),
]
