import { useEffect, useRef, useState } from "react"
import * as Keyboard from "./Keyboard.ts"

interface Actions {
  readonly open: (index: number) => void
  readonly show: (index: number) => void
  /** Selects the row for an action on several, where a list has such. */
  readonly mark?: (index: number) => void
}

/**
 * Moves through a list with `j` and `k`, opens a row with Enter and marks it with `x`. Returns the index of the selected row,
 * or -1.
 */
export const useListKeys = (count: number, { mark, open, show }: Actions): number => {
  const [selected, setSelected] = useState(-1)
  // A ref, because keys can arrive before the state is rendered.
  const current = useRef(selected)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (Keyboard.isTyping(event) || Keyboard.isDialogOpen() || event.metaKey || event.ctrlKey || event.altKey) return
      const step = { j: 1, k: -1 }[event.key]
      if (step !== undefined && count > 0) {
        const next = Math.min(count - 1, Math.max(0, current.current + step))
        current.current = next
        setSelected(next)
        show(next)
      }
      if (event.key === "x" && current.current >= 0) mark?.(current.current)
      // A focused link or button handles Enter itself.
      if (event.key === "Enter" && current.current >= 0 && event.target === document.body) open(current.current)
    }
    window.addEventListener("keydown", onKey)
    return () => window.removeEventListener("keydown", onKey)
  }, [count, mark, open, show])
  return selected
}
