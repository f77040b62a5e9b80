import { ChoiceFilter } from "../ui/controls/FilterSelect.tsx"
import { SearchField, type TypedText } from "../ui/controls/SearchField.tsx"
import { FilterBar } from "../ui/layout/FilterBar.tsx"
import type { RequestFilters } from "../api/RequestFilters.ts"

interface Props {
  readonly filters: RequestFilters
  readonly typed: TypedText
  readonly keyNames: ReadonlyMap<string, string>
  readonly onChange: (name: keyof RequestFilters, value: string | undefined) => void
}

const STATUSES = [
  { value: "2xx", name: "Succeeded (2xx)" },
  { value: "4xx", name: "Refused (4xx)" },
  { value: "5xx", name: "Failed (5xx)" },
  { value: "400", name: "400 Invalid request" },
  { value: "401", name: "401 Unauthorized" },
  { value: "403", name: "403 Forbidden" },
  { value: "404", name: "404 Not found" },
  { value: "422", name: "422 Unprocessable" },
  { value: "429", name: "429 Rate limited" },
]
const METHODS = ["GET", "POST", "PATCH", "DELETE"].map((method) => ({ value: method, name: method }))

export const RequestFilterBar = ({ filters, keyNames, onChange, typed }: Props) => (
  <FilterBar
    search={
      <SearchField
        label="Search by path, request ID or recipient"
        placeholder="/v1/email/send, req_… or ana@example.org"
        typed={typed}
      />
    }
  >
    <ChoiceFilter
      label="Status"
      choices={STATUSES}
      value={filters.status}
      onChange={(status) => onChange("status", status)}
    />
    <ChoiceFilter
      label="Method"
      choices={METHODS}
      value={filters.method}
      onChange={(method) => onChange("method", method)}
    />
    {keyNames.size === 0 ? undefined : (
      <ChoiceFilter
        label="API key"
        choices={[...keyNames].map(([value, name]) => ({ value, name }))}
        value={filters.api_key_id}
        onChange={(key) => onChange("api_key_id", key)}
      />
    )}
  </FilterBar>
)
