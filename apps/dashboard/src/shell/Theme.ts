import { useSyncExternalStore } from "react"

export type Theme = "system" | "light" | "dark"
const KEY = "waybill.theme"
const watchers = new Set<() => void>()
const system = matchMedia("(prefers-color-scheme: dark)")

const read = (): Theme => {
  try {
    const kept = localStorage.getItem(KEY)
    return kept === "light" || kept === "dark" ? kept : "system"
  } catch {
    return "system"
  }
}

let chosen = read()
const isDark = (): boolean => chosen === "dark" || (chosen === "system" && system.matches)

const apply = (): void => {
  document.documentElement.classList.toggle("dark", isDark())
  for (const watcher of watchers) watcher()
}
system.addEventListener("change", apply)

export const choose = (theme: Theme): void => {
  chosen = theme
  try {
    if (theme === "system") localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, theme)
  } catch {
    // Storage is switched off: it holds until the page is left.
  }
  apply()
}

const watch = (watcher: () => void) => {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

export const useTheme = (): Theme => useSyncExternalStore(watch, () => chosen)
/** What colours a canvas has to be painted in. */
export const useDark = (): boolean => useSyncExternalStore(watch, isDark)
