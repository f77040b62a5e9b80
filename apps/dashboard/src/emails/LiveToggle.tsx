import type { LiveState } from "./LiveEmails.ts"
import { cx } from "../ui/display/cx.ts"

export const LiveToggle = ({
  isOn,
  onChange,
  state,
}: {
  readonly isOn: boolean
  readonly state: LiveState
  readonly onChange: (on: boolean) => void
}) => (
  <button
    type="button"
    role="switch"
    aria-checked={isOn}
    onClick={() => onChange(!isOn)}
    title={
      !isOn
        ? "Live updates are paused"
        : state === "rate-limited"
          ? "Rate limit reached. Updates resume within a minute"
          : "New emails and status changes appear automatically"
    }
    className="inline-flex h-8 items-center gap-2 rounded-lg border border-line-strong bg-raised px-3 text-sm font-medium hover:bg-hover"
  >
    <span
      aria-hidden
      className={cx("size-2 rounded-full", !isOn ? "bg-line-strong" : state === "live" ? "bg-good pulsing" : "bg-warn")}
    />
    {!isOn ? "Paused" : state === "live" ? "Live" : state === "rate-limited" ? "Rate limited" : "Connecting"}
  </button>
)
