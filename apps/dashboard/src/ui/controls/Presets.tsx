import { type ReactNode, useState } from "react"
import { SegmentedControl } from "./SegmentedControl.tsx"
import { Checkbox } from "./Field.tsx"

/** Name of the choice to select one by one. */
const CUSTOM = "Custom"

/** Stands for all values, those of later releases too. */
const ALL = "*"

export type Preset = readonly [name: string, values: ReadonlyArray<string>]

interface Props {
  readonly label: string
  readonly presets: ReadonlyArray<Preset>
  /** Values one by one, shown if none of the presets is selected; a group without a name has no heading. */
  readonly groups: ReadonlyArray<readonly [name: string, values: ReadonlyArray<Value>]>
  readonly selected: ReadonlyArray<string>
  readonly onSelect: (values: ReadonlyArray<string>) => void
  readonly error: string | undefined
}

type Value = readonly [value: string, label: ReactNode, hint: ReactNode]

const isSame = (some: ReadonlyArray<string>, others: ReadonlyArray<string>): boolean =>
  some.length === others.length && some.every((each) => others.includes(each))

/** Usual choices, before the values one by one. */
export const Presets = ({ error, groups, label, onSelect, presets, selected }: Props) => {
  const [isCustom, setCustom] = useState(false)
  const found = presets.find(([, values]) => isSame(values, selected))?.[0]
  const shown = isCustom ? CUSTOM : (found ?? CUSTOM)
  // One of the values is no longer all of them.
  const toggle = (value: string) =>
    onSelect(
      selected.includes(value)
        ? selected.filter((each) => each !== value)
        : [...selected.filter((each) => each !== ALL), value],
    )
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-2 text-sm font-medium">{label}</legend>
      <div className="flex">
        <SegmentedControl
          label={label}
          value={shown}
          options={[...presets.map(([name]) => name), CUSTOM].map((name) => [name, name] as const)}
          onChange={(name) => {
            setCustom(name === CUSTOM)
            const values = presets.find(([each]) => each === name)?.[1]
            if (values !== undefined) onSelect(values)
          }}
        />
      </div>
      {shown === CUSTOM ? (
        groups.map(([name, values]) => (
          <div key={name}>
            <p className="mb-1.5 text-xs font-medium text-ink-3 empty:hidden">{name}</p>
            <div className="grid gap-2 sm:grid-cols-2">
              {values.map(([value, text, hint]) => (
                <Checkbox
                  key={value}
                  label={text}
                  hint={hint}
                  checked={selected.includes(value)}
                  onChange={() => toggle(value)}
                />
              ))}
            </div>
          </div>
        ))
      ) : (
        <p className="text-xs [overflow-wrap:anywhere] text-ink-3">
          {selected.includes(ALL) ? "Those of later releases, too." : selected.join(", ")}
        </p>
      )}
      <p className="text-xs text-bad empty:hidden">{error}</p>
    </fieldset>
  )
}
