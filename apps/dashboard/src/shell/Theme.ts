import { useSyncExternalStore } from "react"

export type Theme = "system" | "light" | "dark"
const KEY = "waybill.theme"
const watchers = new Set<() => void>()
const system = matchMedia("(prefers-color-scheme: dark)")

const read = (): Theme => {
  try {
    const stored = localStorage.getItem(KEY)
    return stored === "light" || stored === "dark" ? stored : "system"
  } catch {
    return "system"
  }
}

let theme = read()
const isDark = (): boolean => theme === "dark" || (theme === "system" && system.matches)

const apply = (): void => {
  document.documentElement.classList.toggle("dark", isDark())
  for (const watcher of watchers) watcher()
}
system.addEventListener("change", apply)

export const setTheme = (next: Theme): void => {
  theme = next
  try {
    if (next === "system") localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, next)
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
  apply()
}

const watch = (watcher: () => void) => {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

export const useTheme = (): Theme => useSyncExternalStore(watch, () => theme)
/** Whether dark colors are shown; for drawings on a canvas. */
export const useIsDark = (): boolean => useSyncExternalStore(watch, isDark)
