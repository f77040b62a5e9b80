import type { Duration } from "effect"

/** Limits of a listener and its connections. Each kind of listener sets its own. */
export interface ListenerLimits {
  readonly maxConnections: number
  /** Maximum number of connections of one IPv4 address, or one IPv6 /64. */
  readonly maxConnectionsPerAddress: number
  /** Maximum number of connections that are not identified; the rest of `maxConnections` is reserved for others. */
  readonly maxUnidentified: number
  readonly maxUnidentifiedPerAddress: number
  readonly maxRecipients: number
  readonly maxMessageBytes: number
  /** Maximum time without a command (RFC 5321 §4.5.3.2.7 requires at least 5 minutes). */
  readonly idle: Duration.Duration
  /** Maximum time from DATA to its end, however slowly bytes arrive. */
  readonly message: Duration.Duration
  /** Maximum time until a login, or for the whole connection if clients do not log in. */
  readonly identifiedWithin: Duration.Duration
  /** Maximum time until a login or an accepted recipient while unidentified connections use more than half of their slots. */
  readonly identifiedWithinCrowded: Duration.Duration
  /** Maximum time of open connections when the service stops. */
  readonly stopWithin: Duration.Duration
}
