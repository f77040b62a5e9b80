/** Name of the metadata by which a provider is told the return path of a message, and reports it with each event. */
export const NAME = "waybill"

const POSTMARK = /(?:^|\.)postmarkapp\.com$/iu

/** Header that a relay reads this metadata from; undefined for one that reports the return path, or our Message-ID, by itself. */
export const headerOf = (relay: string): string | undefined =>
  POSTMARK.test(relay) ? `X-PM-Metadata-${NAME}` : undefined
