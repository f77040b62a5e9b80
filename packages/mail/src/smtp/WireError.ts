/** `source`: the address to send from is not one of this host. */
export type WireErrorKind = "refused" | "unreachable" | "timeout" | "closed" | "tls" | "protocol" | "source"

/** The connection can no longer be used. */
export class WireError extends Error {
  readonly kind: WireErrorKind
  constructor(kind: WireErrorKind, message: string) {
    super(message)
    this.kind = kind
  }
}

/** Returns why no connection could be opened. */
export const connectKind = ({ code }: NodeJS.ErrnoException, localAddress: string | undefined): WireErrorKind =>
  localAddress !== undefined && code === "EADDRNOTAVAIL"
    ? "source"
    : code === "ECONNREFUSED"
      ? "refused"
      : "unreachable"
