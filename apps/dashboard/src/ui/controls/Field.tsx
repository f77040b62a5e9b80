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

interface FieldProps {
  readonly label: string
  readonly hint?: ReactNode
  /** Error message, shown instead of the hint. */
  readonly error?: string | undefined
  readonly className?: string
}

interface InputProps {
  readonly id: string
  readonly "aria-describedby": string | undefined
  readonly "aria-invalid": true | undefined
}

const Field = ({
  children,
  className,
  error,
  hint,
  label,
}: FieldProps & { readonly children: (input: InputProps) => ReactNode }) => {
  const id = useId()
  const message = error ?? hint
  return (
    <div className={cx("flex flex-col gap-1.5", className)}>
      <label htmlFor={id} className="text-sm font-medium text-ink">
        {label}
      </label>
      {children({
        id,
        "aria-describedby": message === undefined ? undefined : `${id}-message`,
        "aria-invalid": error === undefined ? undefined : true,
      })}
      {message === undefined ? undefined : (
        <p
          id={`${id}-message`}
          className={cx("text-xs [overflow-wrap:anywhere]", error === undefined ? "text-ink-3" : "text-bad")}
        >
          {message}
        </p>
      )}
    </div>
  )
}

export const TextField = ({
  className,
  error,
  hint,
  label,
  ...input
}: FieldProps & InputHTMLAttributes<HTMLInputElement>) => (
  <Field label={label} error={error} hint={hint} {...(className === undefined ? {} : { className })}>
    {(props) => <input {...props} {...input} className={cx(BOX, "h-9")} />}
  </Field>
)

export const TextArea = ({
  className,
  error,
  hint,
  label,
  ...input
}: FieldProps & TextareaHTMLAttributes<HTMLTextAreaElement>) => (
  <Field label={label} error={error} hint={hint}>
    {(props) => <textarea {...props} {...input} className={cx(BOX, "min-h-28 py-2 leading-relaxed", className)} />}
  </Field>
)

export const SelectField = ({
  children,
  className,
  error,
  hint,
  label,
  ...select
}: FieldProps & SelectHTMLAttributes<HTMLSelectElement>) => (
  <Field label={label} error={error} hint={hint} {...(className === undefined ? {} : { className })}>
    {(props) => (
      <select {...props} {...select} className={cx(BOX, "h-9 pr-7")}>
        {children}
      </select>
    )}
  </Field>
)

interface CheckboxProps extends Omit<InputHTMLAttributes<HTMLInputElement>, "type"> {
  readonly label: ReactNode
  readonly hint?: ReactNode
}

export const Checkbox = ({ className, hint, label, ...input }: CheckboxProps) => {
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
          <p id={`${id}-hint`} className="text-xs [overflow-wrap:anywhere] text-ink-3">
            {hint}
          </p>
        )}
      </div>
    </div>
  )
}
