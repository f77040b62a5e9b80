/** Key that commands begin with, as it is written on this keyboard. */
const MODIFIER = /Mac|iPhone|iPad/u.test(navigator.userAgent) ? "⌘" : "Ctrl"

/** Returns the keys of a command: "⌘K", elsewhere "Ctrl K". */
export const command = (key: string): string => (MODIFIER === "⌘" ? `${MODIFIER}${key}` : `${MODIFIER} ${key}`)
export const commandKeys = (key: string): ReadonlyArray<string> => [MODIFIER, key]

/** Whether a key goes into a text, also one in a shadow tree, which `event.target` hides. */
export const isTyping = (event: KeyboardEvent): boolean => {
  const [target] = event.composedPath()
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/u.test(target.tagName))
  )
}

/** Open dialogs and menus. Toasts, which have the role of a dialog, and popups that are closing do not count. */
const OPEN_DIALOG = ':is([role="dialog"], [role="alertdialog"], [role="menu"]):not([data-toast], [data-closed])'
export const isDialogOpen = (): boolean => document.querySelector(OPEN_DIALOG) !== null
