import type * as Email from "@waybill/domain/Email"
import type { AccountId } from "@waybill/domain/Id"
import type * as TrackedHtml from "@waybill/mail/TrackedHtml"
import * as TrackingToken from "@waybill/mail/TrackingToken"
import { InstanceKey } from "@waybill/store/InstanceKey"
import { Effect, Option } from "effect"
import type { Settings } from "./Settings.ts"
import type { StoppedLinks } from "./StoppedLinks.ts"

/** The first makes, all of them check, so that a link in mail from before a rotation still leads on. */
export const trackingKeys = Effect.map(InstanceKey, (keyring) => keyring.derive("tracking"))

const THIS_MACHINE = /^(?:localhost|127\.[\d.]+|\[::1\])$/u

/**
 * Where tracked links lead. A BASE_URL that is this very machine is none: it would lead each reader to their own machine,
 * and mail that has left cannot be called back. Who only tries it out says so by TRACKING_URL.
 */
export const trackingUrlOf = ({
  baseUrl,
  trackingUrl,
}: Pick<Settings, "baseUrl" | "trackingUrl">): string | undefined => {
  const reaches = (url: string) => !THIS_MACHINE.test(new URL(url).hostname)
  return Option.getOrUndefined(Option.orElse(trackingUrl, () => Option.filter(baseUrl, reaches)))
}

/** Whose links lead nowhere. */
type Stopped = StoppedLinks["Service"]

export type Track = (account_id: string, message: Email.Message) => TrackedHtml.Addresses | undefined

/**
 * Where a message leads that is tracked. Without an address of our own nothing is, whatever was wished for; and where an
 * account's links lead nowhere, its mail leads straight.
 */
export const trackingOf =
  (base: string | undefined, secretKey: Uint8Array, stopped: Stopped): Track =>
  (account_id, { accepted: { email_id, tracking } }) => {
    if (base === undefined || tracking === undefined) return undefined
    const mail = { account_id: account_id as AccountId, email_id }
    const below = base.replace(/\/+$/u, "")
    return {
      open: tracking.opens ? `${below}${TrackingToken.OPEN_PATH}${TrackingToken.ofOpen(secretKey, mail)}` : undefined,
      click:
        tracking.clicks && !stopped.has(account_id)
          ? (url) => `${below}${TrackingToken.CLICK_PATH}${TrackingToken.ofClick(secretKey, { ...mail, url })}`
          : undefined,
    }
  }
