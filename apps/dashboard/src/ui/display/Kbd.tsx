import type { ReactNode } from "react"

export const Kbd = ({ children }: { readonly children: ReactNode }) => (
  <kbd className="inline-flex h-5 min-w-5 items-center justify-center rounded-[5px] border border-line bg-sunken px-1 font-sans text-[11px] text-ink-3">
    {children}
  </kbd>
)
