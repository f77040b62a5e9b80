import * as Livemode from "@waybill/domain/account/Livemode"
import * as DomainName from "@waybill/domain/values/DomainName"
import type * as EmailState from "@waybill/domain/email/EmailState"
import type { AccountId } from "@waybill/domain/values/Id"
import type * as TrackedHtml from "@waybill/mail/compose/TrackedHtml"
import * as TrackingToken from "@waybill/mail/tokens/TrackingToken"
import type { DomainRecord } from "@waybill/store/readmodels/Domains"
import { InstanceKey } from "@waybill/store/secrets/InstanceKey"
import { Effect, Option, Result } from "effect"
import type { Settings } from "../settings/Settings.ts"
import type { StoppedLinks } from "./StoppedLinks.ts"

/**
 * Derives the keys of tracked links. The first one signs, all of them verify, so that links from before a key rotation
 * keep working.
 */
export const trackingKeys = Effect.map(InstanceKey, (keyring) => keyring.derive("tracking"))

const LOOPBACK = /^(?:localhost|127\.[\d.]+|\[::1\])$/u

/**
 * Returns the base address of tracked links. A BASE_URL on the loopback interface does not count: readers would be led
 * to their own machines, and sent mail cannot be corrected. Set TRACKING_URL to try tracking locally.
 */
export const trackingUrlOf = ({
  baseUrl,
  trackingUrl,
}: Pick<Settings, "baseUrl" | "trackingUrl">): string | undefined => {
  const isReachable = (url: string) => !LOOPBACK.test(new URL(url).hostname)
  return Option.getOrUndefined(Option.orElse(trackingUrl, () => Option.filter(baseUrl, isReachable)))
}

/**
 * Returns the CNAME target for customers' tracking domains: a host name, and only where the operator has enabled
 * TRACKING_DOMAINS and thereby TLS for those domains.
 */
export const trackingHostOf = (
  settings: Pick<Settings, "baseUrl" | "trackingUrl" | "trackingDomains">,
): DomainName.DomainName | null => {
  const url = settings.trackingDomains ? trackingUrlOf(settings) : undefined
  const name = url === undefined ? undefined : DomainName.parse(new URL(url).hostname)
  return name === undefined ? null : Option.getOrNull(Result.getSuccess(name))
}

/** Settings that tracked links are built from. */
export interface LinkSettings {
  /** Base address of tracked links; `undefined` disables tracking. */
  readonly base: string | undefined
  readonly secretKey: Uint8Array
  readonly stopped: StoppedLinks["Service"]
  /** Whether links may use customers' tracking domains. */
  readonly customers: boolean
}

/** The sending domain as read when the message is composed; its DNS status may have changed since acceptance. */
type SendingDomain = Pick<DomainRecord, "tracking_domain" | "verified_at">

export type Track = (
  account_id: AccountId,
  message: EmailState.AcceptedEmail,
  domain: SendingDomain | null,
) => TrackedHtml.Addresses | undefined

/**
 * Returns how to build the tracked links of a message, or `undefined` for an untracked one. Clicks are not tracked for
 * accounts whose links are stopped.
 */
export const trackingOf =
  ({ base, customers, secretKey, stopped }: LinkSettings): Track =>
  (account_id, { accepted: { email_id, tracking } }, domain) => {
    if (base === undefined || tracking === undefined) return undefined
    const mail = { account_id, email_id }
    const linkBase = (customers ? trackingDomainUrl(domain) : undefined) ?? base.replace(/\/+$/u, "")
    return {
      open: tracking.opens
        ? `${linkBase}${TrackingToken.OPEN_PATH}${TrackingToken.ofOpen(secretKey, mail)}`
        : undefined,
      click:
        tracking.clicks && !stopped.has(Livemode.liveAccountOf(account_id))
          ? (url) => `${linkBase}${TrackingToken.CLICK_PATH}${TrackingToken.ofClick(secretKey, { ...mail, url })}`
          : undefined,
    }
  }

/**
 * Returns the address of a verified tracking domain. The condition equals that of `Domains.trackingNames`, so that no
 * link uses a name without a certificate.
 */
const trackingDomainUrl = (domain: SendingDomain | null): string | undefined =>
  domain?.tracking_domain?.verified === true && domain.verified_at !== null
    ? `https://${domain.tracking_domain.name}`
    : undefined
