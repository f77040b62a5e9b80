import { router } from "./router.tsx"

/** Loads the code of the screen at a path. */
export const preloadCode = (path: string): void => {
  for (const { routeId } of router.matchRoutes(path === "/" ? "/overview" : path, {}))
    void router.loadRouteChunk(router.routesById[routeId])
}
