import type { ReplyClass } from "./ReplyClass.ts"

/**
 * Reason of a failed delivery: the class of the server's reply, or the error before any reply. `lost_answer` is the
 * time after the final dot, in which the server may have accepted the message.
 */
export type Category =
  | ReplyClass
  | "connection"
  | "tls"
  /** The server is not the one that its zone's TLSA records name, or these cannot be read. */
  | "dane"
  | "dns"
  | "cooling_down"
  | "lost_answer"
  /** No source address may be used now. */
  | "source_address"
  /** The chosen source address is not one of this host; never final. */
  | "source_absent"
  /** This instance does not have the transport of the domain. */
  | "not_configured"
  /** The message could not be signed. */
  | "signing"
