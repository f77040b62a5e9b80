import { useNavigate } from "@tanstack/react-router"
import { KeyRound, ListFilter, Search } from "lucide-react"
import { type FormEvent, type ReactNode, useEffect, useState } from "react"
import { Button } from "../ui/controls/Button.tsx"
import { Menu } from "../ui/controls/Menu.tsx"
import { isFiltered, isRequestId, type RequestFilters } from "./RequestFilters.ts"

interface Props {
  readonly filters: RequestFilters
  readonly keyNames: ReadonlyMap<string, string>
  readonly onChange: (filters: RequestFilters) => void
}

const STATUSES: ReadonlyArray<readonly [status: string, name: string]> = [
  ["2xx", "Succeeded (2xx)"],
  ["4xx", "Refused (4xx)"],
  ["5xx", "Failed (5xx)"],
  ["400", "400 Invalid request"],
  ["401", "401 Unauthorized"],
  ["403", "403 Forbidden"],
  ["404", "404 Not found"],
  ["422", "422 Unprocessable"],
  ["429", "429 Rate limited"],
]
const METHODS = ["GET", "POST", "PATCH", "DELETE"]

const withFilter = (filters: RequestFilters, name: keyof RequestFilters, value: string | undefined): RequestFilters => {
  const { [name]: _, ...rest } = filters
  return value === undefined || value === "" ? rest : { ...rest, [name]: value }
}

export const RequestFilterBar = ({ filters, keyNames, onChange }: Props) => {
  const change = (name: keyof RequestFilters, value: string | undefined) => onChange(withFilter(filters, name, value))
  return (
    <div className="flex flex-wrap items-center gap-2">
      <PathSearch path={filters.path ?? ""} onChange={(path) => change("path", path)} />
      <Choice
        name="Status"
        selected={filters.status}
        options={STATUSES}
        icon={<ListFilter size={14} />}
        onChange={(status) => change("status", status)}
      />
      <Choice
        name="Method"
        selected={filters.method}
        options={METHODS.map((method) => [method, method])}
        icon={<ListFilter size={14} />}
        onChange={(method) => change("method", method)}
      />
      {keyNames.size === 0 ? undefined : (
        <Choice
          name="API key"
          selected={filters.api_key_id}
          options={[...keyNames]}
          icon={<KeyRound size={14} />}
          onChange={(key) => change("api_key_id", key)}
        />
      )}
      {isFiltered(filters) ? (
        <Button variant="ghost" onClick={() => onChange({})}>
          Clear filters
        </Button>
      ) : undefined}
    </div>
  )
}

interface ChoiceProps {
  readonly name: string
  readonly selected: string | undefined
  readonly options: ReadonlyArray<readonly [value: string, name: string]>
  readonly icon: ReactNode
  readonly onChange: (value: string | undefined) => void
}

/** Selects one value or any. */
const Choice = ({ icon, name, onChange, options, selected }: ChoiceProps) => (
  <Menu
    align="start"
    trigger={
      <Button icon={icon}>
        {selected === undefined ? name : (options.find(([value]) => value === selected)?.[1] ?? selected)}
      </Button>
    }
    items={[["", `Any ${name === "API key" ? name : name.toLowerCase()}`] as const, ...options].map(
      ([value, label]) => ({
        name: label,
        icon: <span className="inline-block w-3 text-center text-accent">{value === (selected ?? "") ? "✓" : ""}</span>,
        onSelect: () => onChange(value === "" ? undefined : value),
      }),
    )}
  />
)

/** Searches by path; the id of a request opens it. */
const PathSearch = ({ onChange, path }: { readonly path: string; readonly onChange: (path: string) => void }) => {
  const navigate = useNavigate()
  const [text, setText] = useState(path)
  useEffect(() => setText(path), [path])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const searched = text.trim()
    if (isRequestId(searched)) void navigate({ to: "/requests/$id", params: { id: searched } })
    else onChange(searched)
  }
  return (
    <form role="search" onSubmit={submit} className="relative min-w-56 grow sm:max-w-sm sm:grow-0 sm:basis-80">
      <label>
        <span className="sr-only">Search by path or request id</span>
        <Search
          size={14}
          className="pointer-events-none absolute top-1/2 left-2.5 -translate-y-1/2 text-ink-3"
          aria-hidden
        />
        <input
          data-search
          type="search"
          value={text}
          onChange={(event) => setText(event.target.value)}
          placeholder="/v1/email/send or req_…"
          className="h-8 w-full rounded-lg border border-line-strong bg-raised pr-2 pl-8 text-sm placeholder:text-ink-3"
        />
      </label>
    </form>
  )
}
