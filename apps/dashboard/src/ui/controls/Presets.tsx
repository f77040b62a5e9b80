import { type ReactNode, useState } from "react"
import { SegmentedControl } from "./SegmentedControl.tsx"

/** Name of the choice to select one by one. */
const CUSTOM = "Custom"

export type Preset = readonly [name: string, values: ReadonlyArray<string>]

interface Props {
  readonly label: string
  readonly presets: ReadonlyArray<Preset>
  readonly selected: ReadonlyArray<string>
  readonly onSelect: (values: ReadonlyArray<string>) => void
  /** The values one by one, which are shown if none of the presets is selected. */
  readonly children: ReactNode
}

const isSame = (some: ReadonlyArray<string>, others: ReadonlyArray<string>): boolean =>
  some.length === others.length && some.every((each) => others.includes(each))

/** Usual choices, before the values one by one. */
export const Presets = ({ children, label, onSelect, presets, selected }: Props) => {
  const [isCustom, setCustom] = useState(false)
  const found = presets.find(([, values]) => isSame(values, selected))?.[0]
  const shown = isCustom ? CUSTOM : (found ?? CUSTOM)
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
        children
      ) : (
        <p className="text-xs [overflow-wrap:anywhere] text-ink-3">
          {selected.includes("*") ? "Those of later releases, too." : selected.join(", ")}
        </p>
      )}
    </fieldset>
  )
}
