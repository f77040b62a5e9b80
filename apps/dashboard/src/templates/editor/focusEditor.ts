/** Gives the focus to the first editor of the page, once the dialog that had it has closed. */
export const focusEditor = (): void => {
  setTimeout(() => {
    const [editor] = document.querySelectorAll("[data-editor]")
    editor?.shadowRoot?.querySelector<HTMLElement>(".cm-content")?.focus()
  }, AFTER_DIALOG_MS)
}

/** A dialog returns the focus to the button that opened it when it has faded. */
const AFTER_DIALOG_MS = 250
