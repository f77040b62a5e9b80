import type { ReactNode } from "react"
import { cx } from "./cx.ts"

const TONES = {
  good: "bg-good-soft text-good",
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
  calm: "bg-calm-soft text-calm",
  blue: "bg-accent-soft text-accent",
  violet: "bg-violet-soft text-violet",
} as const
export type Tone = keyof typeof TONES

export const Badge = ({
  children,
  dot = false,
  tone = "calm",
}: {
  readonly children: ReactNode
  readonly tone?: Tone
  readonly dot?: boolean
}) => (
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

/** The states of messages, domains, keys and deliveries: one word has one colour wherever it stands. */
const STATES: Record<string, readonly [tone: Tone, word: string]> = {
  queued: ["calm", "Queued"],
  sent: ["blue", "Sent"],
  delivered: ["good", "Delivered"],
  deferred: ["warn", "Deferred"],
  bounced: ["bad", "Bounced"],
  failed: ["bad", "Failed"],
  suppressed: ["violet", "Suppressed"],
  canceled: ["calm", "Canceled"],
  complained: ["bad", "Complained"],
  pending: ["warn", "Pending"],
  verified: ["good", "Verified"],
  degraded: ["warn", "Degraded"],
  active: ["good", "Active"],
  invited: ["blue", "Invited"],
  expired: ["calm", "Expired"],
  revoked: ["bad", "Revoked"],
  enabled: ["good", "Enabled"],
  disabled: ["calm", "Disabled"],
  scheduled: ["blue", "Scheduled"],
  silent: ["bad", "Silent"],
  live: ["good", "Live"],
  following: ["good", "Following"],
  building: ["warn", "Building"],
  ready: ["blue", "Ready"],
  kept: ["calm", "Kept"],
}

export const State = ({ state }: { readonly state: string }) => {
  const [tone, word] = STATES[state] ?? (["calm", state] as const)
  return (
    <Badge tone={tone} dot>
      {word}
    </Badge>
  )
}
