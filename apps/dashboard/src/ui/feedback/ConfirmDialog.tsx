import { AlertDialog as Base } from "@base-ui/react/alert-dialog"
import { type ReactNode, useState } from "react"
import { Button } from "../controls/Button.tsx"
import { cx } from "../display/cx.ts"
import { UntrustedText } from "../display/UntrustedText.tsx"
import { DIALOG_BACKDROP, DIALOG_PANEL } from "./Dialog.tsx"
import { ErrorMessage } from "./ErrorMessage.tsx"

interface Props {
  readonly open: boolean
  readonly onClose: () => void
  readonly title: string
  readonly children: ReactNode
  readonly action: string
  /** Whether the button is red. Default: true. */
  readonly isDestructive?: boolean
  /** Label of the button that closes the dialog. Default: "Cancel". */
  readonly cancelLabel?: string
  /** Text that the user must type before the action, if a mistake would be costly. */
  readonly confirmationText?: string
  /** A choice before the others that avoids the loss. */
  readonly first?: { readonly name: string; readonly onSelect: () => void } | undefined
  readonly onConfirm: () => Promise<unknown>
}

/** Asks for confirmation of an action that cannot be undone. */
export const ConfirmDialog = ({
  action,
  cancelLabel = "Cancel",
  children,
  confirmationText,
  first,
  isDestructive = true,
  onClose,
  onConfirm,
  open,
  title,
}: Props) => {
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const [text, setText] = useState("")
  const close = () => {
    setError(undefined)
    setText("")
    onClose()
  }
  const run = async () => {
    setBusy(true)
    setError(undefined)
    try {
      await onConfirm()
      close()
    } catch (cause) {
      setError(cause)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Base.Root open={open} onOpenChange={close}>
      <Base.Portal>
        <Base.Backdrop className={DIALOG_BACKDROP} />
        <Base.Popup className={cx(DIALOG_PANEL, "max-w-md")}>
          <form
            className="flex flex-col gap-3 p-5"
            onSubmit={(event) => {
              event.preventDefault()
              void run()
            }}
          >
            <Base.Title className="text-lg font-semibold tracking-tight">
              <UntrustedText text={title} />
            </Base.Title>
            <Base.Description className="text-sm text-ink-2" render={<div />}>
              {children}
            </Base.Description>
            {confirmationText === undefined ? undefined : (
              <label className="flex flex-col gap-1.5 text-sm text-ink-2">
                <span>
                  Type <code className="font-mono text-ink">{confirmationText}</code> to confirm
                </span>
                <input
                  value={text}
                  onChange={(event) => setText(event.target.value)}
                  autoComplete="off"
                  className="h-9 rounded-lg border border-line-strong bg-raised px-2.5 text-sm text-ink"
                />
              </label>
            )}
            <ErrorMessage error={error} />
            <footer className="mt-2 flex flex-wrap justify-end gap-2">
              {first === undefined ? undefined : (
                <Button variant="primary" autoFocus className="mr-auto" onClick={first.onSelect}>
                  {first.name}
                </Button>
              )}
              <Button variant="ghost" onClick={close}>
                {cancelLabel}
              </Button>
              <Button
                type="submit"
                variant={isDestructive ? "danger" : "primary"}
                busy={busy}
                disabled={confirmationText !== undefined && text !== confirmationText}
              >
                {action}
              </Button>
            </footer>
          </form>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}
