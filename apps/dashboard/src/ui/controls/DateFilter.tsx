import { cx } from "../display/cx.ts"

interface Props {
  readonly label: string
  /** Start of the day, in UTC as all days of the dashboard, or what a link has in its place. */
  readonly value: string | undefined
  readonly onChange: (start: string | undefined) => void
}

/** Filters a list by a day. On a phone its name stands where the day will be. */
export const DateFilter = ({ label, onChange, value }: Props) => (
  <label className="group relative flex min-w-0 items-center gap-2 text-sm text-ink-2">
    <span
      className={cx(
        "truncate max-sm:pointer-events-none max-sm:absolute max-sm:left-2.5 max-sm:group-focus-within:sr-only",
        value !== undefined && "max-sm:sr-only",
      )}
    >
      {label}
    </span>
    <input
      type="date"
      title="Days are in UTC."
      className={cx(
        "h-8 min-w-0 rounded-lg border border-line-strong bg-raised px-2 text-sm text-ink",
        value === undefined && "max-sm:not-focus:text-transparent",
      )}
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
