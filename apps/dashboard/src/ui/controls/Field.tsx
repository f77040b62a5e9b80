import {
  useId,
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
} from "react"
import { cx } from "../display/cx.ts"

const BOX =
  "w-full rounded-lg border border-line-strong bg-raised px-2.5 text-sm text-ink placeholder:text-ink-3 transition-colors focus-visible:border-accent focus-visible:outline-1 aria-invalid:border-bad disabled:opacity-60"

interface Labelled {
  readonly label: string
  readonly hint?: ReactNode
  /** What is wrong, worded to follow the name of the field. */
  readonly problem?: string | undefined
  readonly className?: string
}

interface Wiring {
  readonly id: string
  readonly "aria-describedby": string | undefined
  readonly "aria-invalid": true | undefined
}

const Field = ({
  children,
  className,
  hint,
  label,
  problem,
}: Labelled & { readonly children: (wiring: Wiring) => ReactNode }) => {
  const id = useId()
  const said = problem === undefined ? hint : problem
  return (
    <div className={cx("flex flex-col gap-1.5", className)}>
      <label htmlFor={id} className="text-sm font-medium text-ink">
        {label}
      </label>
      {children({
        id,
        "aria-describedby": said === undefined ? undefined : `${id}-said`,
        "aria-invalid": problem === undefined ? undefined : true,
      })}
      {said === undefined ? undefined : (
        <p id={`${id}-said`} className={cx("text-xs", problem === undefined ? "text-ink-3" : "text-bad")}>
          {said}
        </p>
      )}
    </div>
  )
}

export const TextField = ({
  className,
  hint,
  label,
  problem,
  ...input
}: Labelled & InputHTMLAttributes<HTMLInputElement>) => (
  <Field label={label} hint={hint} problem={problem} {...(className === undefined ? {} : { className })}>
    {(wiring) => <input {...wiring} {...input} className={cx(BOX, "h-9")} />}
  </Field>
)

export const TextArea = ({
  className,
  hint,
  label,
  problem,
  ...input
}: Labelled & TextareaHTMLAttributes<HTMLTextAreaElement>) => (
  <Field label={label} hint={hint} problem={problem} {...(className === undefined ? {} : { className })}>
    {(wiring) => <textarea {...wiring} {...input} className={cx(BOX, "min-h-28 py-2 leading-relaxed")} />}
  </Field>
)

export const SelectField = ({
  children,
  className,
  hint,
  label,
  problem,
  ...select
}: Labelled & SelectHTMLAttributes<HTMLSelectElement>) => (
  <Field label={label} hint={hint} problem={problem} {...(className === undefined ? {} : { className })}>
    {(wiring) => (
      <select {...wiring} {...select} className={cx(BOX, "h-9 pr-8")}>
        {children}
      </select>
    )}
  </Field>
)

interface CheckProps extends Omit<InputHTMLAttributes<HTMLInputElement>, "type"> {
  readonly label: ReactNode
  readonly hint?: ReactNode
}

export const Check = ({ className, hint, label, ...input }: CheckProps) => {
  const id = useId()
  return (
    <div className={cx("flex items-start gap-2.5", className)}>
      <input
        id={id}
        type="checkbox"
        {...input}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        className="mt-0.5 size-4 shrink-0 accent-(--solid)"
      />
      <div className="min-w-0">
        <label htmlFor={id} className="text-sm text-ink">
          {label}
        </label>
        {hint === undefined ? undefined : (
          <p id={`${id}-hint`} className="text-xs text-ink-3">
            {hint}
          </p>
        )}
      </div>
    </div>
  )
}
