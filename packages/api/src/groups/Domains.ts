import * as DomainDecider from "@waybill/domain/domain/Domain"
import * as DnsFinding from "@waybill/domain/domain/DnsFinding"
import * as DomainName from "@waybill/domain/values/DomainName"
import * as DomainStatus from "@waybill/domain/domain/DomainStatus"
import * as TrackingDomain from "@waybill/domain/domain/TrackingDomain"
import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as ApiError from "../errors/ApiError.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { annotate } from "../middleware/annotate.ts"
import * as Idempotency from "../schemas/Idempotency.ts"
import * as DomainReports from "../schemas/DomainReports.ts"
import { optional } from "../schemas/optional.ts"
import * as Page from "../schemas/Page.ts"
import { Validation } from "../middleware/Validation.ts"

/** A DNS record to publish, with the result of the last check. */
export const DomainRecord = Schema.Struct({
  purpose: DnsFinding.Purpose,
  type: Schema.Literals(["TXT", "CNAME", "MX"]),
  host: Schema.String.annotate({
    description: "Relative to the domain. To enter it at a DNS provider, use `zone_host` or `name`",
    examples: ["wb1._domainkey"],
  }),
  zone_host: Schema.NullOr(Schema.String).annotate({
    description:
      "Relative to the zone of the domain, as the forms of most DNS providers expect it; `null` while the zone is unknown",
    examples: ["wb1._domainkey.mail"],
  }),
  name: Schema.String.annotate({
    description: "The full name of the record",
    examples: ["wb1._domainkey.mail.acme.test"],
  }),
  value: Schema.String,
  priority: Schema.NullOr(Schema.Natural).annotate({
    description: "Preference of an MX record whose `value` is only the host; `null` for any other record",
  }),
  ttl: Schema.Natural,
  required: Schema.Boolean.annotate({
    description: "Only the DKIM record of the RSA key is required to send; the others are recommended",
  }),
  status: Schema.Literals(["not_checked", ...DnsFinding.Status.literals]),
  found: Schema.Array(Schema.String),
  error: Schema.NullOr(Schema.String).annotate({ description: "The likely mistake, or the DNS error" }),
}).annotate({ identifier: "DnsRecord" })

export const Domain = Schema.Struct({
  object: Schema.Literal("domain"),
  id: Id.DomainId,
  name: DomainName.DomainName,
  status: DomainStatus.Status,
  created_at: Timestamp.Timestamp,
  verified_at: Schema.NullOr(Timestamp.Timestamp),
  last_checked_at: Schema.NullOr(Timestamp.Timestamp),
  next_check_at: Schema.NullOr(Timestamp.Timestamp),
  zone: Schema.NullOr(Schema.String).annotate({
    description: "Name of the DNS zone that holds the domain, which a check finds; `null` while it is unknown",
  }),
  open_tracking: Schema.Boolean.annotate({ description: "Whether opens are tracked" }),
  click_tracking: Schema.Boolean.annotate({ description: "Whether clicks are tracked" }),
  tracking_domain: Schema.NullOr(DomainName.DomainName).annotate({
    description:
      "The name below the domain that tracked links use while its record is verified; `null` uses the service's own name",
  }),
  receiving: Schema.Boolean.annotate({ description: "Whether mail to addresses of the domain is received" }),
  records: Schema.Array(DomainRecord),
}).annotate({ identifier: "Domain" })
export type Domain = typeof Domain.Type

export const Deleted = Schema.Struct({
  object: Schema.Literal("domain"),
  id: Id.DomainId,
  name: DomainName.DomainName,
  deleted: Schema.Literal(true),
}).annotate({ identifier: "DomainDeleted" })

const Addition = Schema.Struct({
  name: Schema.optionalKey(DomainName.FromText),
  domain: Schema.optionalKey(DomainName.FromText),
})
  .check(
    Schema.makeFilter(({ domain, name }) =>
      (name ?? domain) === undefined
        ? { path: ["name"], issue: "is required" }
        : name === undefined ||
          domain === undefined ||
          name === domain || { path: ["domain"], issue: "is an alias of `name` and must not name another domain" },
    ),
  )
  .annotate({ identifier: "DomainAddition", description: "`domain` is an alias of `name`; one of them is required" })

export const Change = Schema.Struct({
  open_tracking: optional(Schema.Boolean, "Track opens, unless the message sets this itself"),
  click_tracking: optional(Schema.Boolean, "Track clicks, unless the message sets this itself"),
  tracking_domain: Schema.optionalKey(
    Schema.NullOr(DomainName.FromText).annotate({
      description: "A name below the domain that tracked links use, such as links.acme.com; `null` removes it",
    }),
  ),
  receiving: optional(
    Schema.Boolean,
    "Receive mail to addresses of the domain; its MX record is among the `records` then",
  ),
}).annotate({ identifier: "DomainChange", description: "Fields that are left out stay as they are" })
export type Change = typeof Change.Type

/** In a path: the name, or the id. */
export const Reference = Schema.Union([Id.DomainId, DomainName.FromText]).annotate({
  description: "Name or id of the domain",
  message: `must be the name of a domain, such as mail.example.org, or its id: ${Id.PREFIXES.DomainId}_ followed by ${Id.ENCODED_LENGTH} characters`,
})

const params = { domain: Reference }
const headers = Idempotency.headers

export class Domains extends HttpApiGroup.make("domains")
  .add(
    HttpApiEndpoint.get("list", "/domains", { success: Page.of(Domain) }).annotateMerge(
      annotate("List domains", "domains:read", "All domains of the account, sorted by name."),
    ),
    HttpApiEndpoint.get("get", "/domains/:domain", { params, success: Domain }).annotateMerge(
      annotate("Get a domain", "domains:read", "The DNS records to publish, with the result of the last check."),
    ),
    HttpApiEndpoint.get("dmarc", "/domains/:domain/dmarc", {
      params,
      query: DomainReports.query,
      success: DomainReports.DmarcReports,
    }).annotateMerge(
      annotate(
        "Get DMARC reports of a domain",
        "domains:read",
        "Who sends mail in the name of the domain, and whether it passed DMARC, as its receivers report it. `record` is the DNS record to publish so that they report here.",
      ),
    ),
    HttpApiEndpoint.get("tls", "/domains/:domain/tls", {
      params,
      query: DomainReports.query,
      success: DomainReports.TlsReports,
    }).annotateMerge(
      annotate(
        "Get TLS reports of a domain",
        "domains:read",
        "Whether other mail servers could deliver to the domain with TLS, as they report it (RFC 8460). `record` is the DNS record to publish so that they report here.",
      ),
    ),
    HttpApiEndpoint.post("add", "/domains", {
      headers,
      payload: Addition,
      success: Idempotency.replayable(Domain.pipe(HttpApiSchema.status(201))),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Add a domain",
        "domains:write",
        `Creates a DKIM key and returns the DNS records to publish. The domain is checked automatically for 72 hours until it is verified. An account has at most ${DomainDecider.MAX_DOMAINS} domains, else 422 \`too_many_domains\`.`,
      ),
    ),
    HttpApiEndpoint.post("verify", "/domains/:domain/verify", {
      params,
      headers,
      success: Idempotency.replayable(Domain),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Verify a domain now",
        "domains:write",
        "Queries the domain's authoritative name servers and returns the result.",
      ),
    ),
    HttpApiEndpoint.post("rotateDkim", "/domains/:domain/dkim/rotate", {
      params,
      headers,
      success: Idempotency.replayable(Domain),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Rotate a domain's DKIM key",
        "domains:write",
        "Creates an RSA key under a new selector. The old key signs until the new DNS record is published.",
      ),
    ),
    HttpApiEndpoint.post("addEd25519", "/domains/:domain/dkim/ed25519", {
      params,
      headers,
      success: Idempotency.replayable(Domain),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Add an Ed25519 key to a domain",
        "domains:write",
        "Creates a second DKIM key (RFC 8463) and adds its record to those to publish. Both keys sign while that record is published; otherwise only the RSA key signs. The record does not affect the status of the domain. If the domain already has an Ed25519 key, nothing changes.",
      ),
    ),
    HttpApiEndpoint.post("rotateEd25519", "/domains/:domain/dkim/ed25519/rotate", {
      params,
      headers,
      success: Idempotency.replayable(Domain),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Rotate a domain's Ed25519 key",
        "domains:write",
        "Creates an Ed25519 key under a new selector. The old key signs until the new DNS record is published; a key that does not sign is replaced at once. 422 `no_ed25519_key` if the domain has no Ed25519 key.",
      ),
    ),
    HttpApiEndpoint.delete("removeEd25519", "/domains/:domain/dkim/ed25519", { params, success: Domain }).annotateMerge(
      annotate(
        "Remove a domain's Ed25519 key",
        "domains:write",
        "Only the RSA key signs from now on. Leave the record in DNS until mail in transit has arrived. If the domain has no Ed25519 key, nothing changes.",
      ),
    ),
    HttpApiEndpoint.patch("update", "/domains/:domain", {
      params,
      payload: Change,
      success: Domain,
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Update a domain",
        "domains:write",
        `Turns open and click tracking on or off; both are off by default. 422 \`tracking_unavailable\` if the service has no public address for tracked links. \`tracking_domain\` adds a CNAME to the records to publish, and tracked links use that name while the record is published; 422 \`not_below_domain\`, \`name_taken\`, \`too_many_tracking_domains\` after ${TrackingDomain.MAX_CHANGES_PER_DAY} names in 24 hours, or \`tracking_domains_unavailable\` if the operator has not enabled tracking domains. \`receiving\` adds an MX to the records, and mail to addresses of the domain is received.`,
      ),
    ),
    HttpApiEndpoint.delete("remove", "/domains/:domain", { params, success: Deleted }).annotateMerge(
      annotate(
        "Remove a domain",
        "domains:write",
        "Mail that is still queued from this domain fails with reason `domain_removed`.",
      ),
    ),
  )
  .middleware(Validation)
  .middleware(Authorization)
  .annotateMerge(
    OpenApi.annotations({
      title: "Domains",
      description: "Domains that an account can send from once DNS is verified.",
    }),
  ) {}
