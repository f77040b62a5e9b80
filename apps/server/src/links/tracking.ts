import * as DomainName from "@waybill/domain/domain/DomainName"
import type * as Email from "@waybill/domain/email/Email"
import type { AccountId } from "@waybill/domain/values/Id"
import type * as TrackedHtml from "@waybill/mail/compose/TrackedHtml"
import * as TrackingToken from "@waybill/mail/tokens/TrackingToken"
import type { DomainRecord } from "@waybill/store/readmodels/Domains"
import { InstanceKey } from "@waybill/store/secrets/InstanceKey"
import { Effect, Option, Result } from "effect"
import type { Settings } from "../boot/Settings.ts"
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

/**
 * Where names of customers are to lead by a CNAME, so that links may lead over them. Only to a name, and only where the
 * operator has said that the proxy serves TLS for them.
 */
export const trackingHostOf = (
  settings: Pick<Settings, "baseUrl" | "trackingUrl" | "trackingDomains">,
): DomainName.DomainName | null => {
  const url = settings.trackingDomains ? trackingUrlOf(settings) : undefined
  const name = url === undefined ? undefined : DomainName.parse(new URL(url).hostname)
  return name === undefined ? null : Option.getOrNull(Result.getSuccess(name))
}

/** What links are made of. */
export interface Way {
  /** The service's own address. */
  readonly base: string | undefined
  readonly secretKey: Uint8Array
  readonly stopped: StoppedLinks["Service"]
  /** Whether links may lead over names of customers. */
  readonly customers: boolean
}

/** A record that was read when the message is written: what DNS says of it may be another thing than at acceptance. */
type Sending = Pick<DomainRecord, "tracking_domain" | "verified_at">

export type Track = (
  account_id: string,
  message: Email.Message,
  domain: Sending | null,
) => TrackedHtml.Addresses | undefined

/**
 * Where a message leads that is tracked. Without an address of our own nothing is, whatever was wished for; and where an
 * account's links lead nowhere, its mail leads straight.
 */
export const trackingOf =
  ({ base, customers, secretKey, stopped }: Way): Track =>
  (account_id, { accepted: { email_id, tracking } }, domain) => {
    if (base === undefined || tracking === undefined) return undefined
    const mail = { account_id: account_id as AccountId, email_id }
    const below = (customers ? customersUrl(domain) : undefined) ?? base.replace(/\/+$/u, "")
    return {
      open: tracking.opens ? `${below}${TrackingToken.OPEN_PATH}${TrackingToken.ofOpen(secretKey, mail)}` : undefined,
      click:
        tracking.clicks && !stopped.has(account_id)
          ? (url) => `${below}${TrackingToken.CLICK_PATH}${TrackingToken.ofClick(secretKey, { ...mail, url })}`
          : undefined,
    }
  }

/** As `Domains.trackingNames` has it, so that no link leads over a name for which no certificate is made. */
const customersUrl = (domain: Sending | null): string | undefined =>
  domain?.tracking_domain?.verified === true && domain.verified_at !== null
    ? `https://${domain.tracking_domain.name}`
    : undefined
