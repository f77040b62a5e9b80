import type { ReactNode } from "react"
import { cx } from "./cx.ts"

const TONES = {
  good: "bg-good-soft text-good",
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
  neutral: "bg-neutral-soft text-neutral",
  blue: "bg-accent-soft text-accent",
  violet: "bg-violet-soft text-violet",
} as const
export type Tone = keyof typeof TONES

interface Props {
  readonly children: ReactNode
  readonly tone?: Tone
  readonly dot?: boolean
}

export const Badge = ({ children, dot = false, tone = "neutral" }: Props) => (
  <span
    className={cx(
      "inline-flex h-5 shrink-0 items-center gap-1.5 rounded-md px-1.5 text-xs font-medium whitespace-nowrap",
      TONES[tone],
    )}
  >
    {dot ? <span className="size-1.5 rounded-full bg-current" /> : undefined}
    {children}
  </span>
)

/** Label and color of each status of emails, domains, keys, deliveries, members and projections. */
const STATUSES: Record<string, readonly [tone: Tone, label: string]> = {
  queued: ["neutral", "Queued"],
  sent: ["blue", "Sent"],
  delivered: ["good", "Delivered"],
  deferred: ["warn", "Deferred"],
  bounced: ["bad", "Bounced"],
  "partly bounced": ["warn", "Partly bounced"],
  "partly failed": ["warn", "Partly failed"],
  "partly suppressed": ["warn", "Partly suppressed"],
  failed: ["bad", "Failed"],
  suppressed: ["violet", "Suppressed"],
  canceled: ["neutral", "Canceled"],
  complained: ["bad", "Complained"],
  pending: ["warn", "Pending"],
  retrying: ["bad", "Retrying"],
  held: ["warn", "Held"],
  "not sent": ["neutral", "Not sent"],
  verified: ["good", "Verified"],
  degraded: ["warn", "Degraded"],
  active: ["good", "Active"],
  invited: ["blue", "Invited"],
  expired: ["neutral", "Expired"],
  revoked: ["bad", "Revoked"],
  enabled: ["good", "Enabled"],
  failing: ["bad", "Failing"],
  "not answering": ["warn", "Not answering"],
  "not accepting": ["warn", "Not accepting"],
  disabled: ["neutral", "Disabled"],
  scheduled: ["blue", "Scheduled"],
  silent: ["bad", "Not responding"],
  open: ["good", "Open"],
  full: ["neutral", "Full"],
  draining: ["warn", "Draining"],
  live: ["good", "Current"],
  following: ["good", "Current"],
  building: ["warn", "Building"],
  ready: ["blue", "Ready"],
  kept: ["neutral", "Previous"],
  draft: ["neutral", "Draft"],
  published: ["good", "Published"],
  archived: ["neutral", "Archived"],
}

export const StatusBadge = ({ status }: { readonly status: string }) => {
  const [tone, label] = STATUSES[status] ?? (["neutral", status] as const)
  return (
    <Badge tone={tone} dot>
      {label}
    </Badge>
  )
}

/** Choices of a filter by status, named as the rows are. */
export const statusChoices = (...statuses: ReadonlyArray<string>) =>
  statuses.map((value) => ({ value, name: STATUSES[value]?.[1] ?? value }))
