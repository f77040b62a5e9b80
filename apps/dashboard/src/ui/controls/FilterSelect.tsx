import { Check, ChevronDown } from "lucide-react"
import { Button } from "./Button.tsx"
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
  /** Whether several values may be selected. */
  readonly isMultiple?: boolean
}

/** Filters a list by one or several values. The button names what is selected. */
export const FilterSelect = ({ choices, isMultiple = false, label, onChange, selected }: Props) => {
  const names = choices.filter(({ value }) => selected.includes(value)).map(({ name }) => name)
  const toggle = (value: string) => {
    const others = isMultiple ? selected.filter((each) => each !== value) : []
    onChange(selected.includes(value) ? others : [...others, value])
  }
  return (
    <Menu
      align="start"
      trigger={
        <Button className="max-w-full min-w-0 shrink!">
          <span className="truncate">
            {names.length === 0
              ? label
              : `${label}: ${names.length > 2 ? `${names.length} selected` : names.join(", ")}`}
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
