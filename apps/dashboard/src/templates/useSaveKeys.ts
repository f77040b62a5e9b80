import { useEffect, useRef } from "react"
import * as Keyboard from "../ui/controls/Keyboard.ts"

interface Actions {
  /** Undefined while there is nothing to do. */
  readonly save: (() => void) | undefined
  readonly publish: (() => void) | undefined
}

/** ⌘S or Ctrl+S saves, ⌘Enter or Ctrl+Enter publishes; also in an editor, and not in a dialog, which has its own. */
export const useSaveKeys = (actions: Actions): void => {
  const latest = useRef(actions)
  useEffect(() => {
    latest.current = actions
  })
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.metaKey || event.ctrlKey) || event.shiftKey || event.altKey || Keyboard.isDialogOpen()) return
      const action = event.key.toLowerCase() === "s" ? "save" : event.key === "Enter" ? "publish" : undefined
      if (action === undefined) return
      // The browser would save the page, and the editor begin a line.
      event.preventDefault()
      event.stopPropagation()
      latest.current[action]?.()
    }
    window.addEventListener("keydown", onKey, true)
    return () => window.removeEventListener("keydown", onKey, true)
  }, [])
}
