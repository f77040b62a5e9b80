import type { ReactNode } from "react"
import { cx } from "./cx.ts"

interface Props {
  readonly children: ReactNode
  /** Whether it only reminds of the key, so that a screen that is touched goes without it. */
  readonly isHint?: boolean
}

export const Kbd = ({ children, isHint = false }: Props) => (
  <kbd
    className={cx(
      "inline-flex h-5 min-w-5 items-center justify-center rounded-[5px] border border-line bg-sunken px-1 font-sans text-[11px] text-ink-3",
      isHint && "pointer-coarse:hidden",
    )}
  >
    {children}
  </kbd>
)
