import { useNavigate } from "@tanstack/react-router"
import { useEffect, useRef } from "react"
import * as Navigation from "./Navigation.ts"
import * as Keyboard from "../ui/controls/Keyboard.ts"
import { useSession } from "../session/useSession.ts"

/** Maximum time between `g` and the second key. */
const CHORD_MS = 1_200
/** Event timestamps start at 0, so 0 would count as a recent `g` just after loading. */
const NEVER = Number.NEGATIVE_INFINITY

/** Shortcuts that work outside text fields: `g` and a letter opens a screen, `/` searches, `?` shows all shortcuts. */
export const useShortcuts = ({
  onHelp,
  onPalette,
}: {
  readonly onPalette: () => void
  readonly onHelp: () => void
}): void => {
  const navigate = useNavigate()
  const { session } = useSession()
  const pressedG = useRef(NEVER)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() === "k" && (event.metaKey || event.ctrlKey)) {
        event.preventDefault()
        return onPalette()
      }
      if (Keyboard.isTyping(event) || Keyboard.isDialogOpen() || event.metaKey || event.ctrlKey || event.altKey)
        return undefined
      if (event.timeStamp - pressedG.current < CHORD_MS) {
        pressedG.current = NEVER
        const screen = Navigation.ALL_SCREENS.find(
          (each) => each.key === event.key && Navigation.isVisible(each, session),
        )
        if (screen === undefined) return undefined
        event.preventDefault()
        return void navigate({ to: screen.to })
      }
      if (event.key === "g") pressedG.current = event.timeStamp
      if (event.key === "?") onHelp()
      if (event.key === "/") {
        event.preventDefault()
        const search = document.querySelector<HTMLInputElement>("[data-search]")
        if (search === null) onPalette()
        else search.focus()
      }
      return undefined
    }
    window.addEventListener("keydown", onKey)
    return () => window.removeEventListener("keydown", onKey)
  }, [navigate, onHelp, onPalette, session])
}
