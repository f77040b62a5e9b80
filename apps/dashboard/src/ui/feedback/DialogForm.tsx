import type { FormEvent, ReactNode } from "react"
import { Button } from "../controls/Button.tsx"
import { ErrorMessage } from "./ErrorMessage.tsx"

interface Props {
  readonly onSubmit: () => void
  readonly children: ReactNode
  readonly error?: unknown
  readonly busy?: boolean
  readonly submit: string
  readonly onCancel: () => void
}

/** Form inside a dialog: fields, an error, and two buttons. Ctrl+Enter or ⌘+Enter submits it. */
export const DialogForm = ({ busy = false, children, error, onCancel, onSubmit, submit }: Props) => (
  <form
    className="flex flex-col gap-4 p-5"
    noValidate
    onSubmit={(event: FormEvent) => {
      event.preventDefault()
      onSubmit()
    }}
    onKeyDown={(event) => {
      if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) event.currentTarget.requestSubmit()
    }}
  >
    {children}
    {error === undefined || error === null ? undefined : <ErrorMessage error={error} />}
    <footer className="mt-1 flex justify-end gap-2">
      <Button variant="ghost" onClick={onCancel}>
        Cancel
      </Button>
      <Button type="submit" variant="primary" busy={busy}>
        {submit}
      </Button>
    </footer>
  </form>
)
