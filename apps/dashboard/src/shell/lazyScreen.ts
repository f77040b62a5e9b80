import { lazyRouteComponent } from "@tanstack/react-router"
import { type ComponentType, createElement, useEffect, useState } from "react"
import * as Connection from "../api/Connection.ts"
import { LoadingScreen } from "./Shell.tsx"

/**
 * Loads the code of a screen when it is first opened. Without a connection the screen is a placeholder until there is one: the
 * router would load the page again, and the browser would replace the dashboard by its own error.
 */
export const lazyScreen: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(() => load().catch(() => ({ [name ?? "default"]: placeholderFor(load, name) }) as never), name)

const placeholderFor = <A, Name extends keyof A>(load: () => Promise<A>, name: Name | undefined): ComponentType => {
  const whenOnline = async (): Promise<A> => {
    Connection.report(false)
    await Connection.untilOnline()
    return load().catch(whenOnline)
  }
  const loaded = whenOnline()
  return () => {
    const [Screen, setScreen] = useState<ComponentType>()
    useEffect(() => {
      void loaded.then((code) => setScreen(() => code[name ?? ("default" as Name)] as ComponentType))
    }, [])
    return createElement(Screen ?? LoadingScreen)
  }
}
