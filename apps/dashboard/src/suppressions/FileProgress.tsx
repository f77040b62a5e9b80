import type { Progress } from "./SuppressionTransfer.ts"

const PERCENT = 100

/** How far an import or export is. */
export const FileProgress = ({
  label,
  progress: { done, of, waitSeconds },
}: {
  readonly label: string
  readonly progress: Progress
}) => (
  <>
    <p role="status">
      {of === undefined
        ? `${done.toLocaleString("en")} addresses read…`
        : `${done.toLocaleString("en")} of ${of.toLocaleString("en")} addresses…`}
      {waitSeconds > 0 ? ` Rate limit reached; continues in ${waitSeconds} s.` : ""}
    </p>
    <div role="progressbar" aria-label={label} className="h-1 overflow-hidden rounded-full bg-hover">
      <div
        className={of === undefined ? "pulsing h-full w-full bg-accent" : "h-full bg-accent"}
        style={of === undefined ? undefined : { width: `${(done / of) * PERCENT}%` }}
      />
    </div>
  </>
)
