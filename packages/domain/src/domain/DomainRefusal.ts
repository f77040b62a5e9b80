import * as Refusal from "../values/Refusal.ts"
import type * as Timestamp from "../values/Timestamp.ts"

export class DomainNotFound extends Refusal.of("DomainNotFound", 404, "domain_not_found") {
  override readonly message = "No domain with this name or id exists in this account."
}

export class DomainAlreadyExists extends Refusal.of("DomainAlreadyExists", 422, "domain_already_exists")<{
  readonly domain: string
}> {
  override readonly message = `This account already has the domain ${this.domain}.`
}

export class TooManyDomains extends Refusal.of("TooManyDomains", 422, "too_many_domains")<{ readonly most: number }> {
  override readonly message = `An account has at most ${this.most} domains. Remove one first.`
}

export class NoEd25519Key extends Refusal.of("NoEd25519Key", 422, "no_ed25519_key")<{ readonly domain: string }> {
  override readonly message = `The domain ${this.domain} has no Ed25519 key. Add one first.`
}

export class NotBelowDomain extends Refusal.of("NotBelowDomain", 422, "not_below_domain")<{
  readonly name: string
  readonly domain: string
  /** The request field that holds the name. */
  readonly path: string
}> {
  override readonly message = `${this.name} is not a name below ${this.domain}. Use one such as links.${this.domain}.`
  readonly details = [{ path: this.path, message: `must be a name below ${this.domain}` }]
}

export class TooManyTrackingDomains extends Refusal.of("TooManyTrackingDomains", 422, "too_many_tracking_domains")<{
  readonly most: number
  /** When the tracking domain may be set again. */
  readonly again_at: Timestamp.Timestamp
}> {
  override readonly message = `The tracking domain of a domain can be set ${this.most} times in 24 hours. Set it again after ${this.again_at}.`
  readonly details = [{ path: "tracking_domain", message: `can be set again after ${this.again_at}` }]
}

export class NameTaken extends Refusal.of("NameTaken", 422, "name_taken")<{
  readonly name: string
  readonly path: string
}> {
  override readonly message = `${this.name} is the name of another DNS record of this domain, and a CNAME cannot share a name. Choose another name.`
  readonly details = [{ path: this.path, message: "is the name of another DNS record of this domain" }]
}

export class TrackingDomainsUnavailable extends Refusal.of(
  "TrackingDomainsUnavailable",
  422,
  "tracking_domains_unavailable",
) {
  override readonly message =
    "This service does not support tracking domains. Its operator can enable them with TRACKING_DOMAINS=on once its proxy serves them."
  readonly details = [{ path: "tracking_domain", message: "requires TRACKING_DOMAINS=on" }]
}
