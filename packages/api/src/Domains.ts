import { MAX_DOMAINS } from "@waybill/domain/Domain"
import * as DnsFinding from "@waybill/domain/DnsFinding"
import * as DomainName from "@waybill/domain/DomainName"
import * as DomainStatus from "@waybill/domain/DomainStatus"
import * as Id from "@waybill/domain/Id"
import * as Timestamp from "@waybill/domain/Timestamp"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as ApiError from "./ApiError.ts"
import { Authorization } from "./Authorization.ts"
import { about } from "./Endpoint.ts"
import * as Idempotency from "./Idempotency.ts"
import { optional } from "./Optional.ts"
import * as Page from "./Page.ts"
import { Validation } from "./Validation.ts"

/** A record to publish, and what DNS answered when it was last asked. */
export const DomainRecord = Schema.Struct({
  purpose: DnsFinding.Purpose,
  type: Schema.Literals(["TXT", "CNAME", "MX"]),
  host: Schema.String.annotate({
    description: "Relative to the domain, as the forms of DNS providers want it",
    examples: ["wb1._domainkey"],
  }),
  name: Schema.String.annotate({ examples: ["wb1._domainkey.acme.test"] }),
  value: Schema.String,
  ttl: Schema.Natural,
  required: Schema.Boolean.annotate({
    description: "Only the RSA key's DKIM record is required to send; the rest is advice",
  }),
  status: Schema.Literals(["not_checked", ...DnsFinding.Status.literals]),
  found: Schema.Array(Schema.String),
  error: Schema.NullOr(Schema.String).annotate({ description: "The classic mistake it looks like, or DNS's own word" }),
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
  open_tracking: Schema.Boolean.annotate({ description: "Whether its mail tells when it is opened" }),
  click_tracking: Schema.Boolean.annotate({ description: "Whether links in its mail tell when they are followed" }),
  tracking_domain: Schema.NullOr(DomainName.DomainName).annotate({
    description: "The name below it that links lead over while its record is verified; `null` is the service's own",
  }),
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
          name === domain || { path: ["domain"], issue: "is another spelling of `name` and names another domain" },
    ),
  )
  .annotate({ identifier: "DomainAddition", description: "`domain` is an alias of `name`; one of them is required" })

export const Change = Schema.Struct({
  open_tracking: optional(Schema.Boolean, "Tell when mail is opened, where a message says nothing else"),
  click_tracking: optional(Schema.Boolean, "Tell which links are followed, where a message says nothing else"),
  tracking_domain: Schema.optionalKey(
    Schema.NullOr(DomainName.FromText).annotate({
      description: "A name below the domain that links are to lead over, such as links.acme.com; `null` takes it back",
    }),
  ),
}).annotate({ identifier: "DomainChange", description: "What is left out stays as it is" })
export type Change = typeof Change.Type

/** In a path: the name, or the id. */
export const Reference = Schema.Union([Id.DomainId, DomainName.FromText]).annotate({
  description: "The name of the domain, or its id",
})

const params = { domain: Reference }
const headers = Idempotency.headers

export class Domains extends HttpApiGroup.make("domains")
  .add(
    HttpApiEndpoint.get("list", "/domains", { success: Page.of(Domain) }).annotateMerge(
      about("List domains", "domains:read", "All domains of the account, by name."),
    ),
    HttpApiEndpoint.get("get", "/domains/:domain", { params, success: Domain }).annotateMerge(
      about("Get a domain", "domains:read", "The records to publish, and what DNS answered when it was last asked."),
    ),
    HttpApiEndpoint.post("add", "/domains", {
      headers,
      payload: Addition,
      success: Idempotency.replayable(Domain.pipe(HttpApiSchema.status(201))),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      about(
        "Add a domain",
        "domains:write",
        `Makes a DKIM key and says which records to publish. The domain is checked by itself until it verifies, for 72 hours. At most ${MAX_DOMAINS} for an account, else 422 \`too_many_domains\`.`,
      ),
    ),
    HttpApiEndpoint.post("verify", "/domains/:domain/verify", {
      params,
      headers,
      success: Idempotency.replayable(Domain),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      about(
        "Verify a domain now",
        "domains:write",
        "Asks the domain's own name servers, and answers with what they said.",
      ),
    ),
    HttpApiEndpoint.post("rotateDkim", "/domains/:domain/dkim/rotate", {
      params,
      headers,
      success: Idempotency.replayable(Domain),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      about(
        "Rotate a domain's DKIM key",
        "domains:write",
        "Makes a new RSA key under a new selector. The old one signs until DNS shows the new record.",
      ),
    ),
    HttpApiEndpoint.post("addEd25519", "/domains/:domain/dkim/ed25519", {
      params,
      headers,
      success: Idempotency.replayable(Domain),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      about(
        "Add an Ed25519 key to a domain",
        "domains:write",
        "Makes a second DKIM key (RFC 8463) and adds its record to those to publish. Mail is signed by both keys while DNS shows that record, and by the RSA key alone while it does not; the status of the domain never hangs on it. A domain that has such a key keeps it, and is answered as it is.",
      ),
    ),
    HttpApiEndpoint.post("rotateEd25519", "/domains/:domain/dkim/ed25519/rotate", {
      params,
      headers,
      success: Idempotency.replayable(Domain),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      about(
        "Rotate a domain's Ed25519 key",
        "domains:write",
        "Makes a new Ed25519 key under a new selector. The old one signs until DNS shows the new record; one that does not sign is replaced at once. A domain without such a key is 422 `no_ed25519_key`.",
      ),
    ),
    HttpApiEndpoint.delete("removeEd25519", "/domains/:domain/dkim/ed25519", { params, success: Domain }).annotateMerge(
      about(
        "Remove a domain's Ed25519 key",
        "domains:write",
        "Mail is signed by the RSA key alone from now on. Leave the record in DNS until mail that is under way has arrived. A domain without such a key is answered as it is.",
      ),
    ),
    HttpApiEndpoint.patch("update", "/domains/:domain", {
      params,
      payload: Change,
      success: Domain,
      error: ApiError.Unprocessable,
    }).annotateMerge(
      about(
        "Change a domain",
        "domains:write",
        "Whether opens and clicks of its mail are told; off unless somebody switches it on. 422 `tracking_unavailable` where the service has no address that links could lead to. `tracking_domain` adds a CNAME to the records to publish, and links lead over that name while DNS shows it; 422 `not_below_domain`, `name_taken`, or `tracking_domains_unavailable` where the operator has not set that up.",
      ),
    ),
    HttpApiEndpoint.delete("remove", "/domains/:domain", { params, success: Deleted }).annotateMerge(
      about(
        "Remove a domain",
        "domains:write",
        "Mail that is still queued from it fails with reason `domain_removed`.",
      ),
    ),
  )
  .middleware(Validation)
  .middleware(Authorization)
  .annotateMerge(OpenApi.annotations({ title: "Domains", description: "The domains that an account sends from." })) {}
