import { useEffect, useRef, useState } from "react"
import { isOverlaid, isTyping } from "./useShortcuts.ts"

interface Actions {
  readonly open: (nth: number) => void
  readonly show: (nth: number) => void
}

/** `j` and `k` walk through a list, Enter opens. Gives the row that is walked to, or none before the first step. */
export const useListKeys = (count: number, { open, show }: Actions): number => {
  const [at, setAt] = useState(-1)
  // Keys come faster than what they change is drawn.
  const current = useRef(at)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event.target) || isOverlaid() || event.metaKey || event.ctrlKey || event.altKey) return
      const step = { j: 1, k: -1 }[event.key]
      if (step !== undefined && count > 0) {
        const next = Math.min(count - 1, Math.max(0, current.current + step))
        current.current = next
        setAt(next)
        show(next)
      }
      // A focused link or button has its own meaning for Enter.
      if (event.key === "Enter" && current.current >= 0 && event.target === document.body) open(current.current)
    }
    window.addEventListener("keydown", onKey)
    return () => window.removeEventListener("keydown", onKey)
  }, [count, open, show])
  return at
}
