import { useSyncExternalStore } from "react"
import * as Stored from "../api/Stored.ts"

export type Theme = "system" | "light" | "dark"
const watchers = new Set<() => void>()
const system = matchMedia("(prefers-color-scheme: dark)")

const read = (): Theme => {
  const stored = Stored.read(Stored.THEME)
  return stored === "light" || stored === "dark" ? stored : "system"
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
  Stored.write(Stored.THEME, next === "system" ? null : next)
  apply()
}

const watch = (watcher: () => void) => {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

export const useTheme = (): Theme => useSyncExternalStore(watch, () => theme)
/** Whether dark colors are shown; for drawings on a canvas. */
export const useIsDark = (): boolean => useSyncExternalStore(watch, isDark)
