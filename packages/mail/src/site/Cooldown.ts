/**
 * Rate of mail to one site. A server that says "slow down" gets half the connections after a pause; the pause doubles
 * while it goes on saying so. Each run of accepted mail afterwards adds one connection and shortens the pause, so the
 * rate settles just below the server's limit.
 */
export interface Cooldown {
  readonly limit: number
  /** Milliseconds of the clock; 0 when there was no pause. */
  readonly paused_until: number
  /** Length of the next pause. */
  readonly pause_ms: number
  /** Length of the shortest pause. */
  readonly first_pause_ms: number
  /** Messages accepted since the last change. */
  readonly accepted: number
}

export const FIRST_PAUSE_MS = 60_000
export const LONGEST_PAUSE_MS = 30 * 60_000
/** Messages that a server accepts without a complaint before one more connection is tried. */
export const ACCEPTED_PER_STEP = 20

export const start = (limit: number, first_pause_ms = FIRST_PAUSE_MS): Cooldown => ({
  limit,
  paused_until: 0,
  pause_ms: first_pause_ms,
  first_pause_ms,
  accepted: 0,
})

export const remaining = (cooldown: Cooldown, now: number): number => Math.max(0, cooldown.paused_until - now)

/**
 * Several connections receive the same complaint at once: within a pause it counts once. A server may ask for a longer
 * pause.
 */
export const throttled = (cooldown: Cooldown, now: number, least_ms = 0): Cooldown =>
  remaining(cooldown, now) > 0
    ? cooldown
    : {
        ...cooldown,
        limit: Math.max(1, Math.floor(cooldown.limit / 2)),
        paused_until: now + Math.max(cooldown.pause_ms, least_ms),
        pause_ms: Math.min(LONGEST_PAUSE_MS, cooldown.pause_ms * 2),
        accepted: 0,
      }

export const accepted = (cooldown: Cooldown, most: number): Cooldown => {
  if (cooldown.limit >= most && cooldown.paused_until === 0) return cooldown
  if (cooldown.accepted + 1 < ACCEPTED_PER_STEP) return { ...cooldown, accepted: cooldown.accepted + 1 }
  const limit = Math.min(most, cooldown.limit + 1)
  const pause_ms = Math.max(cooldown.first_pause_ms, cooldown.pause_ms / 2)
  const recovered = limit === most && pause_ms === cooldown.first_pause_ms
  return { ...cooldown, limit, pause_ms, accepted: 0, paused_until: recovered ? 0 : cooldown.paused_until }
}
