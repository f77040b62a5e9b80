import type { ProviderEvent } from "../../../../apps/server/src/providers/formats/ProviderEvent.ts"

/** What an event is about. */
export interface About {
  readonly kind: "delivered" | "deferred" | "bounced" | "complained" | "opened" | "clicked"
  readonly to: string
  /** Our Message-ID. */
  readonly messageId: string
  /** The provider's id of the message. */
  readonly ref: string
  /** Names the event. */
  readonly id: string
  readonly at: number
}

/** A form that a provider documents beside those of the six kinds, and what is read in it. */
export interface Form {
  readonly body: unknown
  readonly reads: "ignored" | ReadonlyArray<Partial<ProviderEvent>>
}

export type Forms = Readonly<Record<string, Form>>

export const iso = ({ at }: About) => new Date(at).toISOString()
export const unix = ({ at }: About) => at / 1000
export const AGENT =
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Safari/605.1"
export const IP = "192.0.2.1"
export const LINK = "https://shop.test/o?id=7"
/** A server's answer for an address that does not exist. */
export const UNKNOWN = "550 5.1.1 The email account that you tried to reach does not exist"
export const SUBJECT = "Your receipt"
export const FROM = "Acme <hi@acme.test>"
