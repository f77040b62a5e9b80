import { useMutation } from "@tanstack/react-query"
import { type ChangeEvent, type FormEvent, useState } from "react"
import { useFormErrors } from "../../api/useFormErrors.ts"

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
