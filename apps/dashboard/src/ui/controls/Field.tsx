import {
  type ChangeEvent,
  type FormEvent,
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
  useState,
} from "react"
import { cx } from "../display/cx.ts"
import { useMutation } from "@tanstack/react-query"
import { ApiError } from "../../api/ApiError.ts"
import { useFormErrors } from "../../api/useFormErrors.ts"

const BOX =
  "w-full rounded-lg border border-line-strong bg-raised px-2.5 text-sm text-ink placeholder:text-ink-3 transition-colors focus-visible:border-accent focus-visible:outline-1 aria-invalid:border-bad disabled:opacity-60"

interface FieldProps {
  readonly label: string
  readonly hint?: ReactNode
  /** Error message, shown instead of the hint. */
  readonly error?: string | undefined
  readonly className?: string | undefined
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

type TextFieldProps = FieldProps & InputHTMLAttributes<HTMLInputElement>

export const TextField = ({ className, error, hint, label, ...input }: TextFieldProps) => (
  <Field {...{ className, error, hint, label }}>
    {(props) => <input {...props} {...input} className={cx(BOX, "h-9")} />}
  </Field>
)

type TextAreaProps = FieldProps & TextareaHTMLAttributes<HTMLTextAreaElement>

export const TextArea = ({ className, error, hint, label, ...input }: TextAreaProps) => (
  <Field {...{ error, hint, label }}>
    {(props) => <textarea {...props} {...input} className={cx(BOX, "min-h-28 py-2 leading-relaxed", className)} />}
  </Field>
)

/** Values of a choice with their texts. */
export type SelectOptions = ReadonlyArray<readonly [value: string | number, text: string]>

/** The choices of a `select` element. */
export const Options = ({ options }: { readonly options: SelectOptions }) =>
  options.map(([value, text]) => (
    <option key={value} value={value}>
      {text}
    </option>
  ))

type SelectFieldProps = FieldProps &
  SelectHTMLAttributes<HTMLSelectElement> & {
    /** Choices after those of the children. */
    readonly options?: SelectOptions
  }

export const SelectField = ({ children, className, error, hint, label, options = [], ...select }: SelectFieldProps) => (
  <Field {...{ className, error, hint, label }}>
    {(props) => (
      <select {...props} {...select} className={cx(BOX, "h-9 pr-7")}>
        {children}
        <Options options={options} />
      </select>
    )}
  </Field>
)

interface CellSelectProps extends SelectHTMLAttributes<HTMLSelectElement> {
  /** Accessible name. */
  readonly label: string
  readonly options: SelectOptions
}

/** A choice in a cell of a table, which is made at once. */
export const CellSelect = ({ label, options, ...select }: CellSelectProps) => (
  <select
    aria-label={label}
    {...select}
    className="h-8 rounded-lg border border-line-strong bg-raised pr-7 pl-2.5 text-sm"
  >
    <Options options={options} />
  </select>
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
        className="mt-0.5 size-4 shrink-0 accent-solid"
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

interface Options<Values, Answer> {
  /** Values by the names of the fields in the API, so that its errors stand beside them. */
  readonly initial: Values
  readonly send: (values: Values) => Promise<Answer>
  readonly onSent?: (answer: Answer) => unknown
}

type NameOf<Values, Value> = { readonly [N in keyof Values]: Values[N] extends Value ? N : never }[keyof Values] &
  string

export type Form = Pick<ReturnType<typeof useForm>, "error" | "isPending" | "submit">

/** State of a form: its values, the request that sends them, and what is wrong with which field. */
export const useForm = <Values extends object, Answer = unknown>({
  initial,
  onSent,
  send,
}: Options<Values, Answer>) => {
  const [values, setValues] = useState(initial)
  const request = useMutation({ mutationFn: () => send(values), onSuccess: (answer) => onSent?.(answer) })
  // A checkbox has no place for an error.
  const fields = Object.fromEntries(Object.entries(values).filter(([, value]) => typeof value !== "boolean"))
  const errors = useFormErrors<string>(request.error, fields)
  const set = (change: Partial<Values>) => setValues((current) => ({ ...current, ...change }))
  return {
    values,
    set,
    answer: request.data,
    isPending: request.isPending,
    /** Error of the whole form. */
    error: errors.form,
    /** Reason of the API for refusing what the fields have. */
    reason: request.error instanceof ApiError ? request.error.reason : undefined,
    errorOf: (name: keyof Values & string) => errors.field[name],
    submit: () => request.mutate(),
    onSubmit: (event: FormEvent) => {
      event.preventDefault()
      request.mutate()
    },
    /** Properties of a text field or a choice. */
    input: (name: NameOf<Values, string>) => ({
      value: values[name] as string,
      onChange: ({ target }: ChangeEvent<HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>) =>
        set({ [name]: target.value } as Partial<Values>),
      error: errors.field[name],
    }),
    /** Properties of a checkbox. */
    check: (name: NameOf<Values, boolean>) => ({
      checked: values[name] as boolean,
      onChange: ({ target }: ChangeEvent<HTMLInputElement>) => set({ [name]: target.checked } as Partial<Values>),
    }),
  }
}
