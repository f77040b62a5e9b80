import type { FormEvent, ReactNode } from "react"
import { Button } from "../controls/Button.tsx"
import type { Form } from "../controls/useForm.ts"
import { ErrorMessage } from "./ErrorMessage.tsx"

interface Props {
  readonly form: Form
  readonly children: ReactNode
  readonly submit: string
  readonly onCancel: () => void
  /** Label of the button that closes the dialog. Default: "Cancel". */
  readonly cancelLabel?: string
  readonly disabled?: boolean
}

/** Form inside a dialog: fields, an error, and two buttons. Ctrl+Enter or ⌘+Enter submits it. */
export const DialogForm = ({ cancelLabel = "Cancel", children, disabled = false, form, onCancel, submit }: Props) => (
  <form
    className="flex flex-col gap-4 px-5 pt-5"
    noValidate
    onSubmit={(event: FormEvent) => {
      event.preventDefault()
      if (!disabled) form.submit()
    }}
    onKeyDown={(event) => {
      if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) event.currentTarget.requestSubmit()
    }}
  >
    {children}
    <ErrorMessage error={form.error} />
    <footer className="sticky bottom-0 -mx-5 mt-1 flex justify-end gap-2 rounded-b-2xl border-t border-line bg-raised px-5 py-3">
      <Button variant="ghost" onClick={onCancel}>
        {cancelLabel}
      </Button>
      <Button type="submit" variant="primary" busy={form.isPending} disabled={disabled}>
        {submit}
      </Button>
    </footer>
  </form>
)
