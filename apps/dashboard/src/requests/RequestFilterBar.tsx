import { ChoiceFilter } from "../ui/controls/FilterSelect.tsx"
import type { useListSearch } from "../ui/layout/useListSearch.ts"
import { useKeyNames } from "./useKeyNames.ts"

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

type Filter = ReturnType<typeof useListSearch<"api_key_id" | "method" | "status">>["filter"]

export const RequestFilterBar = ({ filter }: { readonly filter: Filter }) => {
  const keys = [...useKeyNames()].map(([value, name]) => ({ value, name }))
  return (
    <>
      <ChoiceFilter label="Status" choices={STATUSES} {...filter("status")} />
      <ChoiceFilter label="Method" choices={METHODS} {...filter("method")} />
      {keys.length === 0 ? undefined : <ChoiceFilter label="API key" choices={keys} {...filter("api_key_id")} />}
    </>
  )
}
