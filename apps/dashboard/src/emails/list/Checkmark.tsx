interface Props {
  /** Accessible name. */
  readonly label: string
  readonly isOn: boolean
  /** Whether some of what it stands for is selected. */
  readonly isPartly?: boolean
  readonly onChange: (isOn: boolean) => void
}

/** Selects a row, or all of them. The area around the box counts as well. */
export const Checkmark = ({ isOn, isPartly = false, label, onChange }: Props) => (
  <label className="flex w-11 shrink-0 cursor-pointer items-center self-stretch pl-4">
    <input
      ref={(input) => {
        if (input !== null) input.indeterminate = isPartly
      }}
      type="checkbox"
      aria-label={label}
      checked={isOn}
      onChange={({ target }) => onChange(target.checked)}
      className="size-4 accent-solid"
    />
  </label>
)
