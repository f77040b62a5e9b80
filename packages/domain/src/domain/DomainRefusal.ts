import { Schema } from "effect"
import type { Detail } from "../values/Refusal.ts"
import * as Timestamp from "../values/Timestamp.ts"

export class DomainNotFound extends Schema.TaggedError<DomainNotFound>()("DomainNotFound", {}) {
  readonly status = 404
  readonly reason = "domain_not_found"
  override get message() {
    return "No domain with this name or id exists in this account."
  }
}

export class DomainAlreadyExists extends Schema.TaggedError<DomainAlreadyExists>()("DomainAlreadyExists", {
  domain: Schema.String,
}) {
  readonly status = 422
  readonly reason = "domain_already_exists"
  override get message() {
    return `This account already has the domain ${this.domain}.`
  }
}

export class TooManyDomains extends Schema.TaggedError<TooManyDomains>()("TooManyDomains", {
  most: Schema.Natural,
}) {
  readonly status = 422
  readonly reason = "too_many_domains"
  override get message() {
    return `An account has at most ${this.most} domains. Remove one first.`
  }
}

export class NoEd25519Key extends Schema.TaggedError<NoEd25519Key>()("NoEd25519Key", { domain: Schema.String }) {
  readonly status = 422
  readonly reason = "no_ed25519_key"
  override get message() {
    return `The domain ${this.domain} has no Ed25519 key. Add one first.`
  }
}

export class NotBelowDomain extends Schema.TaggedError<NotBelowDomain>()("NotBelowDomain", {
  name: Schema.String,
  domain: Schema.String,
  /** The request field that holds the name. */
  path: Schema.String,
}) {
  readonly status = 422
  readonly reason = "not_below_domain"
  override get message() {
    return `${this.name} is not a name below ${this.domain}. Use one such as links.${this.domain}.`
  }
  get details(): ReadonlyArray<Detail> {
    return [{ path: this.path, message: `must be a name below ${this.domain}` }]
  }
}

export class TooManyTrackingDomains extends Schema.TaggedError<TooManyTrackingDomains>()("TooManyTrackingDomains", {
  most: Schema.Natural,
  /** When the tracking domain may be set again. */
  again_at: Timestamp.Timestamp,
}) {
  readonly status = 422
  readonly reason = "too_many_tracking_domains"
  override get message() {
    return `The tracking domain of a domain can be set ${this.most} times in 24 hours. Set it again after ${this.again_at}.`
  }
  get details(): ReadonlyArray<Detail> {
    return [{ path: "tracking_domain", message: `can be set again after ${this.again_at}` }]
  }
}

export class NameTaken extends Schema.TaggedError<NameTaken>()("NameTaken", {
  name: Schema.String,
  path: Schema.String,
}) {
  readonly status = 422
  readonly reason = "name_taken"
  override get message() {
    return `${this.name} is the name of another DNS record of this domain, and a CNAME cannot share a name. Choose another name.`
  }
  get details(): ReadonlyArray<Detail> {
    return [{ path: this.path, message: "is the name of another DNS record of this domain" }]
  }
}

export class TrackingDomainsUnavailable extends Schema.TaggedError<TrackingDomainsUnavailable>()(
  "TrackingDomainsUnavailable",
  {},
) {
  readonly status = 422
  readonly reason = "tracking_domains_unavailable"
  override get message() {
    return "This service does not support tracking domains. Its operator can enable them with TRACKING_DOMAINS=on once its proxy serves them."
  }
  get details(): ReadonlyArray<Detail> {
    return [{ path: "tracking_domain", message: "requires TRACKING_DOMAINS=on" }]
  }
}
