import { useInfiniteQuery } from "@tanstack/react-query"
import { LayoutTemplate } from "lucide-react"
import { defined } from "../api/defined.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { ChoiceFilter } from "../ui/controls/FilterSelect.tsx"
import { Dialog } from "../ui/feedback/Dialog.tsx"
import { COLUMNS, KINDS } from "./TemplateColumns.tsx"
import { NewTemplate } from "./NewTemplate.tsx"
import * as TemplateQueries from "./content/TemplateQueries.ts"
import { ListScreen } from "../ui/layout/ListScreen.tsx"
import { useListSearch } from "../ui/layout/useListSearch.ts"
import { statusChoices } from "../ui/display/Badge.tsx"

const STATUSES = statusChoices("draft", "published", "archived")
const KIND_CHOICES = Object.entries(KINDS).map(([value, name]) => ({ value, name }))

export const Templates = () => {
  const list = useListSearch<"kind" | "status">()
  const canWrite = useHasScope("templates:write")
  const { kind, q, status } = list.search
  const query = useInfiniteQuery(TemplateQueries.list(defined({ kind, q, status }) as TemplateQueries.TemplateFilters))
  return (
    <ListScreen
      title="Templates"
      hint="Texts that your emails are made of, with versions, languages and checked variables."
      create={canWrite && "Create template"}
      list={list}
      search={["Search templates", "Words of the name or alias"]}
      filters={
        <>
          <ChoiceFilter label="Kind" choices={KIND_CHOICES} {...list.filter("kind")} />
          <ChoiceFilter label="Status" choices={STATUSES} {...list.filter("status")} />
        </>
      }
      query={query}
      columns={COLUMNS}
      noun="templates"
      noMatches="Archived templates are shown only with the status Archived."
      empty={{
        icon: <LayoutTemplate size={20} />,
        title: "No templates yet",
        children: "Write the words of an email once, and send it by its name with other variables each time.",
      }}
    >
      <Dialog open={list.isCreating} onClose={() => list.setCreating(false)} title="Create template">
        <NewTemplate onCancel={() => list.setCreating(false)} />
      </Dialog>
    </ListScreen>
  )
}
