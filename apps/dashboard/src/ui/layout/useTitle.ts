import { useEffect } from "react"

/** Sets the title of the page, which names tabs, bookmarks and history, and which screen readers announce. */
export const useTitle = (name: string): void => {
  useEffect(() => {
    document.title = `${name} · Waybill`
  }, [name])
}
