import { shiftDate } from "./shiftDate.ts"

/** Loaded before a process: its wall clock begins at the instant that follows `?` in the address of this module. */
const begins = Date.parse(decodeURIComponent(new URL(import.meta.url).search.slice(1)))
const ahead = begins - Date.now()
shiftDate(() => ahead)
