import { Dialog as Base } from "@base-ui/react/dialog"
import { X } from "lucide-react"
import type { FormEvent, ReactNode } from "react"
import { Button } from "../controls/Button.tsx"
import { cx } from "../display/cx.ts"
import { UntrustedText } from "../display/UntrustedText.tsx"
import { ErrorMessage } from "./ErrorMessage.tsx"
import type { Form } from "../controls/Field.tsx"

export const DIALOG_BACKDROP = "backdrop fixed inset-0 z-40 bg-black/25 dark:bg-black/55"
export const DIALOG_PANEL =
  "popup fixed top-[12vh] left-1/2 z-50 max-h-[80vh] w-[calc(100vw-2rem)] -translate-x-1/2 overflow-y-auto rounded-2xl border border-line bg-raised shadow-float outline-none"

interface Props {
  readonly open: boolean
  readonly onClose: () => void
  readonly title: string
  readonly description?: ReactNode
  readonly children: ReactNode
  readonly wide?: boolean
  /** Whether Esc and a click outside leave the dialog open, for secrets that are shown only once. */
  readonly requiresClose?: boolean
  /** Called after the closing animation. Content that changes earlier would flicker. */
  readonly onClosed?: () => void
}

export const Dialog = ({
  children,
  description,
  onClose,
  onClosed,
  open,
  requiresClose = false,
  title,
  wide = false,
}: Props) => (
  <Base.Root
    open={open}
    onOpenChange={(isOpen, details) => {
      if (!isOpen && requiresClose && details.reason === "escape-key") details.cancel()
      else if (!isOpen) onClose()
    }}
    onOpenChangeComplete={(isOpen) => {
      if (!isOpen) onClosed?.()
    }}
    disablePointerDismissal={requiresClose}
  >
    <Base.Portal>
      <Base.Backdrop className={DIALOG_BACKDROP} />
      <Base.Popup className={cx(DIALOG_PANEL, wide ? "max-w-2xl" : "max-w-lg")}>
        <header className="flex items-start gap-4 px-5 pt-5">
          <div className="min-w-0 grow">
            <Base.Title className="text-lg font-semibold tracking-tight">
              <UntrustedText text={title} />
            </Base.Title>
            {description === undefined ? undefined : (
              <Base.Description className="mt-1 text-sm text-ink-2" render={<div />}>
                {description}
              </Base.Description>
            )}
          </div>
          <Base.Close
            aria-label="Close"
            className="-mt-1 -mr-1.5 rounded-lg p-1.5 text-ink-3 hover:bg-hover hover:text-ink"
          >
            <X size={16} />
          </Base.Close>
        </header>
        {children}
      </Base.Popup>
    </Base.Portal>
  </Base.Root>
)

interface BodyProps {
  readonly children: ReactNode
  readonly done?: string
  /** Whether the button is the way to go on, rather than to stop. */
  readonly isPrimary?: boolean
  readonly onDone: () => void
}

/** Content of a dialog, above the button that closes it. */
export const DialogBody = ({ children, done = "Done", isPrimary = true, onDone }: BodyProps) => (
  <div className="flex min-w-0 flex-col gap-4 p-5">
    {children}
    <footer className="flex justify-end">
      <Button variant={isPrimary ? "primary" : "secondary"} onClick={onDone}>
        {done}
      </Button>
    </footer>
  </div>
)

interface FormProps {
  readonly form: Form
  readonly children: ReactNode
  readonly submit: string
  readonly onCancel: () => void
  /** Label of the button that closes the dialog. Default: "Cancel". */
  readonly cancelLabel?: string
  readonly disabled?: boolean
}

/** Form inside a dialog: fields, an error, and two buttons. Ctrl+Enter or ⌘+Enter submits it. */
export const DialogForm = ({
  cancelLabel = "Cancel",
  children,
  disabled = false,
  form,
  onCancel,
  submit,
}: FormProps) => (
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
