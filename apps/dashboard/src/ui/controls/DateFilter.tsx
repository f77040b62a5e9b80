interface Props {
  readonly label: string
  /** Start of the day, in UTC as all days of the dashboard, or what a link has in its place. */
  readonly value: string | undefined
  readonly onChange: (start: string | undefined) => void
}

/** Filters a list by a day. */
export const DateFilter = ({ label, onChange, value }: Props) => (
  <label className="flex items-center gap-2 text-sm text-ink-2">
    {label}
    <input
      type="date"
      title="Days are in UTC."
      className="h-8 rounded-lg border border-line-strong bg-raised px-2 text-sm text-ink"
      value={value === undefined ? "" : dayOf(value)}
      onChange={({ target }) => onChange(startOf(target.value))}
    />
  </label>
)

const dayOf = (iso: string): string => {
  const time = new Date(iso)
  return Number.isNaN(time.getTime()) ? "" : time.toISOString().slice(0, "2026-11-30".length)
}

const startOf = (day: string): string | undefined => {
  const time = new Date(`${day}T00:00:00Z`)
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString()
}
