import { useQueryClient } from "@tanstack/react-query"
import { WifiOff } from "lucide-react"
import { useEffect, useRef } from "react"
import { useConnection } from "../api/Connection.ts"

const MESSAGES = {
  offline: "You are offline. What was loaded before is still here, and everything else loads when you are back.",
  unreachable: "The server does not answer. Trying again…",
}

/** Says that the page cannot be up to date, and refetches what it shows once it can. */
export const ConnectionBanner = () => {
  const connection = useConnection()
  const client = useQueryClient()
  const wasOnline = useRef(true)
  useEffect(() => {
    const isOnline = connection === "online"
    if (isOnline && !wasOnline.current) void client.invalidateQueries()
    wasOnline.current = isOnline
  }, [client, connection])
  return (
    <div role="status" className="sticky top-12 z-20 empty:hidden lg:top-0">
      {connection === "online" ? undefined : (
        <p className="flex items-center justify-center gap-2 bg-warn-soft px-4 py-2 text-center text-sm text-warn">
          <WifiOff size={15} className="shrink-0" aria-hidden />
          {MESSAGES[connection]}
        </p>
      )}
    </div>
  )
}
