import { useNavigate } from "@tanstack/react-router"
import { useEffect, useRef } from "react"
import { ALL_PLACES, isFor } from "./Navigation.ts"
import { useSession } from "./useSession.ts"

/** How long after `g` the second key is waited for. */
const CHORD_MS = 1_200
/** A page's own clock begins at 0, and what is pressed in its first second comes after no `g`. */
const NEVER = Number.NEGATIVE_INFINITY

export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/u.test(target.tagName))

/** A toast calls itself a dialog too, and is none; what is closing is there no more. Whoever goes on waits for neither. */
const OVERLAID = ':is([role="dialog"], [role="alertdialog"], [role="menu"]):not([data-toast], [data-closed])'
export const isOverlaid = (): boolean => document.querySelector(OVERLAID) !== null

/** Keys that work wherever nobody is typing: `g` and a letter goes somewhere, `/` searches, `?` shows all of them. */
export const useShortcuts = ({
  onHelp,
  onPalette,
}: {
  readonly onPalette: () => void
  readonly onHelp: () => void
}): void => {
  const navigate = useNavigate()
  const { may } = useSession()
  const since = useRef(NEVER)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() === "k" && (event.metaKey || event.ctrlKey)) {
        event.preventDefault()
        return onPalette()
      }
      if (isTyping(event.target) || isOverlaid() || event.metaKey || event.ctrlKey || event.altKey) return undefined
      if (event.timeStamp - since.current < CHORD_MS) {
        since.current = NEVER
        const place = ALL_PLACES.find((each) => each.key === event.key && isFor(each, may))
        if (place === undefined) return undefined
        event.preventDefault()
        return void navigate({ to: place.to })
      }
      if (event.key === "g") since.current = event.timeStamp
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
  }, [may, navigate, onHelp, onPalette])
}
