// Runs in the page itself, before any other code: sets the theme before the first paint, so that a dark page does not
// flash white, and requests what the first screen needs while the code of the dashboard is on its way.
import * as EarlyReads from "../api/EarlyReads.ts"
import { firstReads } from "./firstReads.ts"
import * as Stored from "../api/Stored.ts"

/** Files with the code of first screens by path; the build knows their names. */
declare const CODE_OF_SCREENS: Readonly<Record<string, ReadonlyArray<string>>>

const theme = Stored.read(Stored.THEME)
const isDark = theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches)
document.documentElement.classList.toggle("dark", isDark)

const { pathname, search } = window.location
const now = Date.now()
/** Screens that people open without a session, and leave with another one. */
const isOpen = /^\/(?:sign-in|welcome)$/u.test(pathname)
const session = isOpen ? undefined : Stored.lastSession(now)
if (session !== undefined) {
  EarlyReads.start(
    firstReads({
      path: pathname,
      search: new URLSearchParams(search),
      scopes: session.scopes,
      accountId: session.account_id,
      isTest: Stored.read(Stored.TEST_MODE) !== null,
      now,
    }),
  )
  for (const file of CODE_OF_SCREENS[pathname === "/" ? "/overview" : pathname] ?? []) {
    const link = document.createElement("link")
    link.rel = "modulepreload"
    link.href = file
    document.head.append(link)
  }
}
