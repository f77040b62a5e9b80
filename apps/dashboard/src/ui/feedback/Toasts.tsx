import { Toast } from "@base-ui/react/toast"
import * as HiddenCharacters from "@waybill/domain/values/HiddenCharacters"
import { CircleAlert, CircleCheck, X } from "lucide-react"
import type { ReactNode } from "react"
import { ErrorDetails } from "./ErrorDetails.tsx"

const SHOWN_MS = 5_000
/** Toasts with an Undo button and errors stay longer. */
const LONG_MS = 8_000

const manager = Toast.createToastManager()

/** Shows a short confirmation, with an Undo button if `undo` is given. */
export const showToast = (title: string, undo?: () => void): void => {
  manager.add({
    // The title may contain names written by others.
    title: HiddenCharacters.showHidden(title),
    type: "good",
    timeout: undo === undefined ? SHOWN_MS : LONG_MS,
    ...(undo === undefined ? {} : { actionProps: { children: "Undo", onClick: undo } }),
  })
}

export const showError = (error: unknown): void => {
  manager.add({
    title: error instanceof Error ? HiddenCharacters.showHidden(error.message) : "Something went wrong. Try again.",
    data: error,
    type: "bad",
    timeout: LONG_MS,
    priority: "high",
  })
}

const List = () => {
  const { toasts } = Toast.useToastManager()
  return toasts.map((toast) => (
    <Toast.Root
      key={toast.id}
      toast={toast}
      data-toast
      className="popup mb-2 flex w-full items-start gap-2.5 rounded-xl border border-line bg-raised py-3 pr-2 pl-3.5 text-sm shadow-float"
    >
      {toast.type === "bad" ? (
        <CircleAlert size={16} className="mt-0.5 shrink-0 text-bad" aria-hidden />
      ) : (
        <CircleCheck size={16} className="mt-0.5 shrink-0 text-good" aria-hidden />
      )}
      <div className="min-w-0 grow">
        <Toast.Title className="text-sm text-ink" render={<p />} />
        <ErrorDetails error={toast.data} />
      </div>
      <Toast.Action className="shrink-0 rounded-md px-1.5 text-sm font-medium text-accent hover:bg-hover empty:hidden" />
      <Toast.Close aria-label="Dismiss" className="shrink-0 rounded-md p-1 text-ink-3 hover:bg-hover">
        <X size={14} />
      </Toast.Close>
    </Toast.Root>
  ))
}

export const Toasts = ({ children }: { readonly children: ReactNode }) => (
  <Toast.Provider toastManager={manager} limit={3}>
    {children}
    <Toast.Portal>
      <Toast.Viewport className="toasts fixed right-4 bottom-4 z-[60] w-[calc(100vw-2rem)] max-w-sm">
        <List />
      </Toast.Viewport>
    </Toast.Portal>
  </Toast.Provider>
)
