import { CalendarRange, ListFilter, Search, X } from "lucide-react"
import { type FormEvent, type ReactNode, useEffect, useState } from "react"
import { Button } from "../ui/controls/Button.tsx"
import { Dialog } from "../ui/feedback/Dialog.tsx"
import { TextField } from "../ui/controls/Field.tsx"
import { Menu } from "../ui/controls/Menu.tsx"
import { type EmailSearch, isFiltered, STATUSES } from "./EmailFilters.ts"

/** While somebody types, the log is not asked for every letter. */
const TYPING_MS = 300

interface Props {
  readonly search: EmailSearch
  readonly onChange: (search: EmailSearch) => void
}

const NAMES: { readonly [K in keyof EmailSearch]-?: string } = {
  status: "State",
  to: "To",
  from: "From",
  subject: "Subject",
  tag: "Tag",
  domain: "Domain",
  created_after: "After",
  created_before: "Before",
}

const without = (search: EmailSearch, name: keyof EmailSearch): EmailSearch => {
  const { [name]: _, ...rest } = search
  return rest
}

const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1)

export const Filters = ({ onChange, search }: Props) => {
  const [more, setMore] = useState(false)
  const statuses = search.status?.split(",") ?? []
  const toggle = (status: string) => {
    const next = statuses.includes(status) ? statuses.filter((each) => each !== status) : [...statuses, status]
    onChange(next.length === 0 ? without(search, "status") : { ...search, status: next.join(",") })
  }
  return (
    <div className="flex flex-wrap items-center gap-2">
      <SearchBox search={search} onChange={onChange} />
      <Menu
        align="start"
        trigger={
          <Button icon={<ListFilter size={14} />}>
            {statuses.length === 0 ? "State" : statuses.map(capital).join(", ")}
          </Button>
        }
        items={STATUSES.map((status) => ({
          name: capital(status),
          icon: (
            <span className="inline-block w-3 text-center text-accent">{statuses.includes(status) ? "✓" : ""}</span>
          ),
          onSelect: () => toggle(status),
        }))}
      />
      <Button icon={<CalendarRange size={14} />} onClick={() => setMore(true)}>
        More filters
      </Button>
      {Object.entries(search)
        .filter(([name]) => name !== "status" && name !== "subject" && name !== "to")
        .map(([name, value]) => (
          <Chip
            key={name}
            name={NAMES[name as keyof EmailSearch]}
            onRemove={() => onChange(without(search, name as keyof EmailSearch))}
          >
            {Array.isArray(value) ? value.join(", ") : String(value)}
          </Chip>
        ))}
      {isFiltered(search) ? (
        <Button look="quiet" onClick={() => onChange({})}>
          Clear
        </Button>
      ) : undefined}
      <Dialog
        open={more}
        onOpenChange={setMore}
        title="Filter the log"
        description="All of what you fill in has to fit."
      >
        <MoreFilters
          search={search}
          onApply={(next) => {
            setMore(false)
            onChange(next)
          }}
        />
      </Dialog>
    </div>
  )
}

/** An address searches recipients, anything else subjects. */
const SearchBox = ({ onChange, search }: Props) => {
  const shown = search.to ?? search.subject ?? ""
  const [text, setText] = useState(shown)
  useEffect(() => setText(shown), [shown])
  useEffect(() => {
    const word = text.trim()
    if (word === shown || (word.includes("@") && !/@[^@\s]+\.[^@\s]+$/u.test(word))) return undefined
    const timer = setTimeout(() => {
      const rest = without(without(search, "to"), "subject")
      onChange(word === "" ? rest : word.includes("@") ? { ...rest, to: word } : { ...rest, subject: word })
    }, TYPING_MS)
    return () => clearTimeout(timer)
  }, [onChange, search, shown, text])
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
      aria-label={`Remove the filter ${name}`}
      onClick={onRemove}
      className="rounded-md p-1 text-ink-3 hover:text-ink"
    >
      <X size={13} />
    </button>
  </span>
)

/** `datetime-local` speaks the reader's own time, the API speaks UTC. */
const toLocal = (iso: string | undefined): string => {
  if (iso === undefined) return ""
  const at = new Date(iso)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

const MoreFilters = ({
  onApply,
  search,
}: {
  readonly search: EmailSearch
  readonly onApply: (search: EmailSearch) => void
}) => {
  const apply = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const text = (name: string) => String(form.get(name) ?? "").trim()
    const next: Record<string, unknown> = search.status === undefined ? {} : { status: search.status }
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
      <TextField label="To" name="to" type="email" defaultValue={search.to} placeholder="ana@example.org" />
      <TextField label="From" name="from" type="email" defaultValue={search.from} placeholder="hello@acme.test" />
      <TextField label="Subject contains" name="subject" defaultValue={search.subject} />
      <TextField label="Domain" name="domain" defaultValue={search.domain} placeholder="acme.test" />
      <TextField
        className="sm:col-span-2"
        label="Tags"
        name="tag"
        defaultValue={search.tag?.join(", ")}
        hint="Several with commas between; a message has to have all of them."
      />
      <TextField
        label="After"
        name="created_after"
        type="datetime-local"
        defaultValue={toLocal(search.created_after)}
      />
      <TextField
        label="Before"
        name="created_before"
        type="datetime-local"
        defaultValue={toLocal(search.created_before)}
      />
      <footer className="flex justify-end gap-2 sm:col-span-2">
        <Button type="submit" look="solid">
          Show
        </Button>
      </footer>
    </form>
  )
}
