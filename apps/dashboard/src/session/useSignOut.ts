import { useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useCallback } from "react"
import * as Auth from "../api/Auth.ts"
import * as Stored from "../api/Stored.ts"
import * as EventStream from "../live/EventStream.ts"

/** Ends the session, and forgets what was read in it. */
export const useSignOut = (): (() => Promise<void>) => {
  const client = useQueryClient()
  const navigate = useNavigate()
  return useCallback(async () => {
    await Auth.signOut()
    Stored.forgetSearches()
    EventStream.stop()
    client.clear()
    await navigate({ to: "/sign-in" })
  }, [client, navigate])
}
