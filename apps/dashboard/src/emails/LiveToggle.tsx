import type { Liveness } from "../api/useEventStream.ts"
import { cx } from "../ui/display/cx.ts"

export const LiveSwitch = ({
  liveness,
  on,
  onChange,
}: {
  readonly on: boolean
  readonly liveness: Liveness | "held"
  readonly onChange: (on: boolean) => void
}) => (
  <button
    type="button"
    role="switch"
    aria-checked={on}
    onClick={() => onChange(!on)}
    title={
      !on
        ? "The list stands still"
        : liveness === "held"
          ? "Too many requests were made: the list goes on by itself within a minute"
          : "New messages and states come in by themselves"
    }
    className="inline-flex h-8 items-center gap-2 rounded-lg border border-line-strong bg-raised px-3 text-sm font-medium hover:bg-hover"
  >
    <span
      aria-hidden
      className={cx(
        "size-2 rounded-full",
        !on ? "bg-line-strong" : liveness === "live" ? "bg-good breathing" : "bg-warn",
      )}
    />
    {!on ? "Paused" : liveness === "live" ? "Live" : liveness === "held" ? "Waiting" : "Connecting"}
  </button>
)
