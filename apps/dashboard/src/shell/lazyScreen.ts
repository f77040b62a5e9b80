import { lazyRouteComponent } from "@tanstack/react-router"
import * as Connection from "../api/Connection.ts"

/**
 * Loads the code of a screen when it is first opened. Without a connection it waits for one: the router would load the page
 * again, and the browser would replace the dashboard by its own error.
 */
export const lazyScreen: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(
    () =>
      load().catch(async () => {
        Connection.report(false)
        await Connection.untilOnline()
        return load()
      }),
    name,
  )
