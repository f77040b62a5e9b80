import { useRef } from "react"
import { ApiError } from "./ApiError.ts"

/** Whether what was entered is refused, rather than who entered it or when. */
const isRefusal = ({ status }: ApiError): boolean => status === 400 || status === 409 || status === 422

interface FormErrors<Field extends string> {
  readonly field: { readonly [F in Field]: string | undefined }
  /** The error, or the part of it that belongs to no field. */
  readonly form: unknown
}

/**
 * Splits the error of a form into messages beside its fields, named as in the API, and an error for the whole form, so that
 * nothing shows twice. A message is gone once its field has changed, and the error of the form once any field has.
 */
export const useFormErrors = <Field extends string>(
  error: unknown,
  values: Readonly<Record<Field, unknown>>,
): FormErrors<Field> => {
  const refused = useRef<{ readonly error: unknown; readonly values: Readonly<Record<Field, unknown>> }>(undefined)
  if (error !== refused.current?.error) refused.current = { error, values }
  const sent = refused.current?.values ?? values
  const fields = Object.keys(values) as unknown as ReadonlyArray<Field>
  const isChanged = (field: Field) => values[field] !== sent[field]
  const apiError = error instanceof ApiError ? error : undefined
  // An error about the only field may not name it.
  const isOfOnlyField = fields.length === 1 && apiError !== undefined && isRefusal(apiError)
  const messageOf = (field: Field) =>
    isChanged(field) ? undefined : (apiError?.fieldMessage(field) ?? (isOfOnlyField ? apiError.message : undefined))
  const messages = fields.map((field) => [field, messageOf(field)] as const)
  const rest = apiError === undefined ? error : isOfOnlyField ? undefined : apiError.without(fields)
  return {
    field: Object.fromEntries(messages) as FormErrors<Field>["field"],
    form: fields.some(isChanged) ? undefined : (rest ?? undefined),
  }
}
