import { useInfiniteQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { LayoutTemplate, Plus } from "lucide-react"
import { defined } from "../api/defined.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { Button } from "../ui/controls/Button.tsx"
import { ChoiceFilter } from "../ui/controls/FilterSelect.tsx"
import { SearchField, useTypedText } from "../ui/controls/SearchField.tsx"
import { Dialog } from "../ui/feedback/Dialog.tsx"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { PagedRows } from "../ui/layout/PagedRows.tsx"
import { Screen } from "../ui/layout/Screen.tsx"
import { Table } from "../ui/layout/Table.tsx"
import { COLUMNS, KINDS } from "./TemplateColumns.tsx"
import { NewTemplate } from "./NewTemplate.tsx"
import * as TemplateQueries from "./content/TemplateQueries.ts"
import { NoMatches } from "../ui/feedback/NoMatches.tsx"
import { FilterBar } from "../ui/layout/FilterBar.tsx"

const STATUSES = [
  { value: "draft", name: "Draft" },
  { value: "published", name: "Published" },
  { value: "archived", name: "Archived" },
]
const KIND_CHOICES = Object.entries(KINDS).map(([value, name]) => ({ value, name }))

export const Templates = () => {
  const search = useSearch({ from: "/shell/templates" })
  const navigate = useNavigate({ from: "/templates" })
  const canWrite = useHasScope("templates:write")
  const { kind, q, status } = search
  const isFiltered = [kind, q, status].some((filter) => filter !== undefined)
  const query = useInfiniteQuery(TemplateQueries.list(defined({ kind, q, status }) as TemplateQueries.TemplateFilters))
  const change = (
    next: Partial<Readonly<Record<"q" | "status" | "kind", string | undefined>>> & { readonly new?: true | undefined },
  ) => void navigate({ search: (current) => defined({ ...current, ...next }), replace: true })
  const typed = useTypedText(q ?? "", (text) => change({ q: text }))
  const setDialogOpen = (open: boolean) => change({ new: open ? true : undefined })
  const button = canWrite ? (
    <Button variant="primary" icon={<Plus size={15} />} onClick={() => setDialogOpen(true)}>
      Create template
    </Button>
  ) : undefined
  return (
    <Screen
      title="Templates"
      hint="Texts that your emails are made of, with versions, languages and checked variables."
      actions={button}
    >
      <FilterBar
        search={<SearchField label="Search templates" placeholder="Words of the name or alias" typed={typed} />}
      >
        <ChoiceFilter label="Kind" choices={KIND_CHOICES} value={kind} onChange={(next) => change({ kind: next })} />
        <ChoiceFilter label="Status" choices={STATUSES} value={status} onChange={(next) => change({ status: next })} />
      </FilterBar>
      <PagedRows
        query={query}
        isPending={typed.isPending}
        empty={
          isFiltered ? (
            <NoMatches name="templates" onClear={() => change({ kind: undefined, q: undefined, status: undefined })}>
              Archived templates are shown only with the status Archived.
            </NoMatches>
          ) : (
            <EmptyState
              icon={<LayoutTemplate size={20} />}
              title="No templates yet"
              {...(button === undefined ? {} : { action: button })}
            >
              Write the words of an email once, and send it by its name with other variables each time.
            </EmptyState>
          )
        }
      >
        {(rows) => <Table isList label="Templates" rows={rows} keyOf={({ id }) => id} columns={COLUMNS} />}
      </PagedRows>
      <Dialog open={search.new === true} onOpenChange={setDialogOpen} title="Create template">
        <NewTemplate onCancel={() => setDialogOpen(false)} />
      </Dialog>
    </Screen>
  )
}
