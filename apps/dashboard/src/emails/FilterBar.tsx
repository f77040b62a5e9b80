import { CalendarRange, ListFilter, Search, X } from "lucide-react"
import { type FormEvent, type ReactNode, useEffect, useState } from "react"
import { Button } from "../ui/controls/Button.tsx"
import { Dialog } from "../ui/feedback/Dialog.tsx"
import { TextField } from "../ui/controls/Field.tsx"
import { Menu } from "../ui/controls/Menu.tsx"
import { formatDateTime } from "../ui/display/Time.tsx"
import { EMAIL_STATUSES, type EmailFilters, isFiltered, STATUSES } from "./EmailFilters.ts"

/** Delay of the search after the last key. */
const SEARCH_DELAY_MS = 300

interface Props {
  readonly filters: EmailFilters
  readonly onChange: (filters: EmailFilters) => void
}

const LABELS: { readonly [K in keyof EmailFilters]-?: string } = {
  status: "Status",
  recipient_status: "Recipient status",
  to: "To",
  from: "From",
  subject: "Subject",
  tag: "Tag",
  domain: "Domain",
  created_after: "After",
  created_before: "Before",
}

const without = (filters: EmailFilters, name: keyof EmailFilters): EmailFilters => {
  const { [name]: _, ...rest } = filters
  return rest
}

const capitalize = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1)

export const FilterBar = ({ filters, onChange }: Props) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <div className="flex flex-wrap items-center gap-2">
      <SearchBox filters={filters} onChange={onChange} />
      <StatusMenu name="status" options={EMAIL_STATUSES} filters={filters} onChange={onChange} />
      <StatusMenu name="recipient_status" options={STATUSES} filters={filters} onChange={onChange} />
      <Button icon={<CalendarRange size={14} />} onClick={() => setOpen(true)}>
        More filters
      </Button>
      {Object.entries(filters)
        .filter(([name]) => !SHOWN_ELSEWHERE.has(name))
        .map(([name, value]) => (
          <Chip
            key={name}
            name={LABELS[name as keyof EmailFilters]}
            onRemove={() => onChange(without(filters, name as keyof EmailFilters))}
          >
            {Array.isArray(value)
              ? value.join(", ")
              : name.startsWith("created_")
                ? formatDateTime(String(value))
                : String(value)}
          </Chip>
        ))}
      {isFiltered(filters) ? (
        <Button variant="ghost" onClick={() => onChange({})}>
          Clear filters
        </Button>
      ) : undefined}
      <Dialog open={isOpen} onOpenChange={setOpen} title="Filter emails" description="Emails must match every filter.">
        <FilterForm
          filters={filters}
          onApply={(next) => {
            setOpen(false)
            onChange(next)
          }}
        />
      </Dialog>
    </div>
  )
}

/** Filters that have a control of their own. */
const SHOWN_ELSEWHERE: ReadonlySet<string> = new Set(["status", "recipient_status", "subject", "to"])

interface StatusMenuProps extends Props {
  readonly name: "status" | "recipient_status"
  readonly options: ReadonlyArray<string>
}

/** Selects any number of statuses. */
const StatusMenu = ({ filters, name, onChange, options }: StatusMenuProps) => {
  const selected = filters[name]?.split(",") ?? []
  const toggle = (status: string) => {
    const next = selected.includes(status) ? selected.filter((each) => each !== status) : [...selected, status]
    onChange(next.length === 0 ? without(filters, name) : { ...filters, [name]: next.join(",") })
  }
  const label = name === "recipient_status" && selected.length > 0 ? "Recipient: " : ""
  return (
    <Menu
      align="start"
      trigger={
        <Button icon={<ListFilter size={14} />}>
          {selected.length === 0 ? LABELS[name] : label + selected.map(capitalize).join(", ")}
        </Button>
      }
      items={options.map((status) => ({
        name: capitalize(status),
        icon: <span className="inline-block w-3 text-center text-accent">{selected.includes(status) ? "✓" : ""}</span>,
        onSelect: () => toggle(status),
      }))}
    />
  )
}

/** Searches recipients if the text is an address, otherwise subjects. */
const SearchBox = ({ filters, onChange }: Props) => {
  const current = filters.to ?? filters.subject ?? ""
  const [text, setText] = useState(current)
  useEffect(() => setText(current), [current])
  useEffect(() => {
    const query = text.trim()
    if (query === current || (query.includes("@") && !/@[^@\s]+\.[^@\s]+$/u.test(query))) return undefined
    const timer = setTimeout(() => {
      const rest = without(without(filters, "to"), "subject")
      onChange(query === "" ? rest : query.includes("@") ? { ...rest, to: query } : { ...rest, subject: query })
    }, SEARCH_DELAY_MS)
    return () => clearTimeout(timer)
  }, [current, onChange, filters, text])
  return (
    <label className="relative min-w-56 grow sm:max-w-sm sm:grow-0 sm:basis-80">
      <span className="sr-only">Search by recipient or subject</span>
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
        placeholder="Recipient or subject"
        className="h-8 w-full rounded-lg border border-line-strong bg-raised pr-2 pl-8 text-sm placeholder:text-ink-3"
      />
    </label>
  )
}

const Chip = ({
  children,
  name,
  onRemove,
}: {
  readonly name: string
  readonly children: ReactNode
  readonly onRemove: () => void
}) => (
  <span className="inline-flex h-8 items-center gap-1.5 rounded-lg bg-hover pr-1 pl-2.5 text-sm">
    <span className="text-ink-3">{name}</span>
    <span className="max-w-48 truncate">{children}</span>
    <button
      type="button"
      aria-label={`Remove filter ${name}`}
      onClick={onRemove}
      className="rounded-md p-1 text-ink-3 hover:text-ink"
    >
      <X size={13} />
    </button>
  </span>
)

/** Converts a UTC time of the API to the local time that a `datetime-local` input expects. */
const toLocal = (iso: string | undefined): string => {
  if (iso === undefined) return ""
  const at = new Date(iso)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

const FilterForm = ({
  onApply,
  filters,
}: {
  readonly filters: EmailFilters
  readonly onApply: (filters: EmailFilters) => void
}) => {
  const apply = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const text = (name: string) => String(form.get(name) ?? "").trim()
    const next: Record<string, unknown> = Object.fromEntries(
      (["status", "recipient_status"] as const).flatMap((name) =>
        filters[name] === undefined ? [] : [[name, filters[name]]],
      ),
    )
    for (const name of ["to", "from", "subject", "domain"]) if (text(name) !== "") next[name] = text(name)
    for (const name of ["created_after", "created_before"])
      if (text(name) !== "") next[name] = new Date(text(name)).toISOString()
    const tags = text("tag")
      .split(",")
      .map((each) => each.trim())
      .filter((each) => each !== "")
    if (tags.length > 0) next["tag"] = tags
    onApply(next)
  }
  return (
    <form className="grid gap-4 p-5 sm:grid-cols-2" onSubmit={apply}>
      <TextField label="To" name="to" type="email" defaultValue={filters.to} placeholder="ana@example.org" />
      <TextField label="From" name="from" type="email" defaultValue={filters.from} placeholder="hello@acme.test" />
      <TextField label="Subject contains" name="subject" defaultValue={filters.subject} />
      <TextField label="Domain" name="domain" defaultValue={filters.domain} placeholder="acme.test" />
      <TextField
        className="sm:col-span-2"
        label="Tags"
        name="tag"
        defaultValue={filters.tag?.join(", ")}
        hint="Separate with commas. Emails must have all of them."
      />
      <TextField
        label="After"
        name="created_after"
        type="datetime-local"
        defaultValue={toLocal(filters.created_after)}
      />
      <TextField
        label="Before"
        name="created_before"
        type="datetime-local"
        defaultValue={toLocal(filters.created_before)}
      />
      <footer className="flex justify-end gap-2 sm:col-span-2">
        <Button type="submit" variant="primary">
          Apply filters
        </Button>
      </footer>
    </form>
  )
}
