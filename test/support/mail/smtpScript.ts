/** Points of a session at which a script may make the test's SMTP server misbehave. */
export type Phase =
  | "connect"
  | "greeting"
  | "ehlo"
  | "starttls"
  | "auth"
  | "mail"
  | "rcpt"
  | "data"
  | "body"
  | "dot"
  | "rset"
  | "quit"

/**
 * A string that starts with a digit is the reply (lines separated by "\n"). `drop` resets the connection, `close` ends
 * it politely, `hang` never says anything again, `stall` does not even read any more. At the dot the message is stored by a 2xx reply, and by
 * `store-then-drop` and `store-then-hang` without one: the window in which an answer is lost.
 */
export type Action =
  | `${number}${string}`
  | "drop"
  | "close"
  | "hang"
  | "stall"
  | "store-then-drop"
  | "store-then-hang"
  | TlsTrouble

/** At STARTTLS: garbage in place of a handshake, or a reply slipped in behind the 220. */
type TlsTrouble = "broken-tls" | "injected-reply"

export interface At {
  readonly phase: Phase
  /** Starts at 0. */
  readonly connection: number
  readonly transaction: number
  /** Index of a recipient in its transaction. */
  readonly index: number
  readonly line: string
}

export const isTlsTrouble = (action: Action): action is TlsTrouble =>
  action === "broken-tls" || action === "injected-reply"
