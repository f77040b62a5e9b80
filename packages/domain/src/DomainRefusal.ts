import { Schema } from "effect"

export class DomainNotFound extends Schema.TaggedError<DomainNotFound>()("DomainNotFound", {}) {
  readonly status = 404
  readonly code = "not_found"
  readonly reason = "domain_not_found"
  override get message() {
    return "No domain with this name or id exists in this account."
  }
}

export class DomainAlreadyExists extends Schema.TaggedError<DomainAlreadyExists>()("DomainAlreadyExists", {
  domain: Schema.String,
}) {
  readonly status = 422
  readonly code = "unprocessable"
  readonly reason = "domain_already_exists"
  override get message() {
    return `This account already has the domain ${this.domain}.`
  }
}

export class TooManyDomains extends Schema.TaggedError<TooManyDomains>()("TooManyDomains", { most: Schema.Natural }) {
  readonly status = 422
  readonly code = "unprocessable"
  readonly reason = "too_many_domains"
  override get message() {
    return `An account has at most ${this.most} domains. Remove one first.`
  }
}

export class NoEd25519Key extends Schema.TaggedError<NoEd25519Key>()("NoEd25519Key", { domain: Schema.String }) {
  readonly status = 422
  readonly code = "unprocessable"
  readonly reason = "no_ed25519_key"
  override get message() {
    return `The domain ${this.domain} has no Ed25519 key. Add one first.`
  }
}
