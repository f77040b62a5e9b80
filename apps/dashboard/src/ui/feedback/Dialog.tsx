import { AlertDialog as AlertBase } from "@base-ui/react/alert-dialog"
import { Dialog as Base } from "@base-ui/react/dialog"
import { X } from "lucide-react"
import { type FormEvent, type ReactNode, useState } from "react"
import { Button } from "../controls/Button.tsx"
import { cx } from "../display/cx.ts"
import { ErrorNote } from "./ErrorMessage.tsx"
import { Foreign } from "../display/UntrustedText.tsx"

const VEIL = "veil fixed inset-0 z-40 bg-black/25 dark:bg-black/55"
const PANEL =
  "float fixed top-[12vh] left-1/2 z-50 max-h-[80vh] w-[calc(100vw-2rem)] -translate-x-1/2 overflow-y-auto rounded-2xl border border-line bg-raised shadow-float outline-none"

interface Props {
  readonly open: boolean
  readonly onOpenChange: (open: boolean) => void
  readonly title: string
  readonly description?: ReactNode
  readonly children: ReactNode
  readonly wide?: boolean
  /** What can be seen only once is not lost by a slip beside the dialog. */
  readonly sticky?: boolean
  /** Once it is out of sight: what it showed stays until then, so that nothing flickers or takes the focus in going. */
  readonly onClosed?: () => void
}

export const Dialog = ({
  children,
  description,
  onClosed,
  onOpenChange,
  open,
  sticky = false,
  title,
  wide = false,
}: Props) => (
  <Base.Root
    open={open}
    onOpenChange={onOpenChange}
    onOpenChangeComplete={(isOpen) => {
      if (!isOpen) onClosed?.()
    }}
    disablePointerDismissal={sticky}
  >
    <Base.Portal>
      <Base.Backdrop className={VEIL} />
      <Base.Popup className={cx(PANEL, wide ? "max-w-2xl" : "max-w-lg")}>
        <header className="flex items-start gap-4 px-5 pt-5">
          <div className="min-w-0 grow">
            <Base.Title className="text-lg font-semibold tracking-tight">
              <Foreign text={title} />
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

interface FormProps {
  readonly onSubmit: () => void
  readonly children: ReactNode
  readonly error?: unknown
  readonly busy?: boolean
  readonly submit: string
  readonly onCancel: () => void
}

/** The inside of a dialog that asks: fields, what went wrong, and two buttons. Ctrl or ⌘ with Enter sends it. */
export const DialogForm = ({ busy = false, children, error, onCancel, onSubmit, submit }: FormProps) => (
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
    {error === undefined || error === null ? undefined : <ErrorNote error={error} />}
    <footer className="mt-1 flex justify-end gap-2">
      <Button look="quiet" onClick={onCancel}>
        Cancel
      </Button>
      <Button type="submit" look="solid" busy={busy}>
        {submit}
      </Button>
    </footer>
  </form>
)

interface ConfirmProps {
  readonly open: boolean
  readonly onOpenChange: (open: boolean) => void
  readonly title: string
  readonly children: ReactNode
  readonly action: string
  /** Has to be typed, where a slip would be costly. */
  readonly typed?: string
  readonly onConfirm: () => Promise<unknown>
}

/** For what cannot be undone. */
export const Confirm = ({ action, children, onConfirm, onOpenChange, open, title, typed }: ConfirmProps) => {
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const [text, setText] = useState("")
  const change = (next: boolean) => {
    setError(undefined)
    setText("")
    onOpenChange(next)
  }
  const run = async () => {
    setBusy(true)
    setError(undefined)
    try {
      await onConfirm()
      change(false)
    } catch (refused) {
      setError(refused)
    } finally {
      setBusy(false)
    }
  }
  return (
    <AlertBase.Root open={open} onOpenChange={change}>
      <AlertBase.Portal>
        <AlertBase.Backdrop className={VEIL} />
        <AlertBase.Popup className={cx(PANEL, "max-w-md")}>
          <form
            className="flex flex-col gap-3 p-5"
            onSubmit={(event) => {
              event.preventDefault()
              void run()
            }}
          >
            <AlertBase.Title className="text-lg font-semibold tracking-tight">
              <Foreign text={title} />
            </AlertBase.Title>
            <AlertBase.Description className="text-sm text-ink-2" render={<div />}>
              {children}
            </AlertBase.Description>
            {typed === undefined ? undefined : (
              <label className="flex flex-col gap-1.5 text-sm text-ink-2">
                <span>
                  Type <code className="font-mono text-ink">{typed}</code> to go on
                </span>
                <input
                  value={text}
                  onChange={(event) => setText(event.target.value)}
                  autoComplete="off"
                  className="h-9 rounded-lg border border-line-strong bg-raised px-2.5 text-sm text-ink"
                />
              </label>
            )}
            {error === undefined ? undefined : <ErrorNote error={error} />}
            <footer className="mt-2 flex justify-end gap-2">
              <Button look="quiet" onClick={() => change(false)}>
                Keep it
              </Button>
              <Button type="submit" look="danger" busy={busy} disabled={typed !== undefined && text !== typed}>
                {action}
              </Button>
            </footer>
          </form>
        </AlertBase.Popup>
      </AlertBase.Portal>
    </AlertBase.Root>
  )
}
