import { useConnection } from "../api/Connection.ts"
import type { LiveState } from "./LiveEmails.ts"
import { cx } from "../ui/display/cx.ts"

interface Props {
  readonly isOn: boolean
  readonly state: LiveState
  readonly onChange: (on: boolean) => void
}

export const LiveToggle = ({ isOn, onChange, state }: Props) => {
  const connection = useConnection()
  const shown =
    connection === "offline"
      ? "offline"
      : connection === "unreachable"
        ? "reconnecting"
        : state === "off"
          ? "connecting"
          : state
  return (
    <button
      type="button"
      role="switch"
      aria-checked={isOn}
      onClick={() => onChange(!isOn)}
      title={!isOn ? "Auto-refresh is paused" : HINTS[shown]}
      className="inline-flex h-8 items-center gap-2 rounded-lg border border-line-strong bg-raised px-3 text-sm font-medium hover:bg-hover"
    >
      <span
        aria-hidden
        className={cx(
          "size-2 rounded-full",
          !isOn ? "bg-line-strong" : shown === "live" ? "bg-good pulsing" : "bg-warn",
        )}
      />
      {isOn ? NAMES[shown] : "Paused"}
    </button>
  )
}

const NAMES = {
  live: "Auto-refresh",
  connecting: "Connecting",
  reconnecting: "Reconnecting",
  offline: "Offline",
  "rate-limited": "Rate limited",
}
const HINTS = {
  live: "New emails and status changes appear automatically",
  connecting: "Connecting to the server",
  reconnecting: "The connection was lost. The list is not up to date",
  offline: "You are offline. The list is not up to date",
  "rate-limited": "Rate limit reached. Updates resume within a minute",
}
