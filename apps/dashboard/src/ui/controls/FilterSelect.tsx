import { Check, ChevronDown } from "lucide-react"
import { Button } from "./Button.tsx"
import { cx } from "../display/cx.ts"
import { Menu } from "./Menu.tsx"

export interface Choice {
  readonly value: string
  readonly name: string
}

interface Props {
  readonly label: string
  readonly choices: ReadonlyArray<Choice>
  readonly selected: ReadonlyArray<string>
  readonly onChange: (selected: ReadonlyArray<string>) => void
}

/** Filters a list by several values. The button names what is selected. */
export const FilterSelect = ({ choices, label, onChange, selected }: Props) => {
  const names = choices.filter(({ value }) => selected.includes(value)).map(({ name }) => name)
  const toggle = (value: string) =>
    onChange(selected.includes(value) ? selected.filter((each) => each !== value) : [...selected, value])
  return (
    <Menu
      align="start"
      trigger={
        <Button className={cx("max-w-full", names.length > 0 && "min-w-0 shrink!")}>
          <span className="truncate">
            {/* A phone has room for what is selected. */}
            {names.length === 0 ? label : <span className="max-sm:sr-only">{label}: </span>}
            {names.length > 2 ? `${names.length} selected` : names.join(", ")}
          </span>
          <ChevronDown size={14} className="shrink-0 text-ink-3" aria-hidden />
        </Button>
      }
      items={choices.map(({ name, value }) => ({
        name,
        icon: selected.includes(value) ? (
          <Check size={14} className="text-accent" aria-label="Selected" />
        ) : (
          <span className="w-3.5" />
        ),
        onSelect: () => toggle(value),
      }))}
    />
  )
}

interface ChoiceProps extends Pick<Props, "label" | "choices"> {
  readonly value: string | undefined
  readonly onChange: (value: string | undefined) => void
}

/** Filters a list by one value, or by none. */
export const ChoiceFilter = ({ onChange, value, ...filter }: ChoiceProps) => (
  <FilterSelect
    {...filter}
    selected={value === undefined ? [] : [value]}
    onChange={(selected) => onChange(selected.at(-1))}
  />
)
