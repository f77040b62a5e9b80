import type { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { Group } from "./Groups.ts"

/**
 * How an endpoint treats a key that is bound to one domain (contract §7).
 * - `own domain`: reads and changes only what belongs to that domain; another domain's object is 403.
 * - `whole account`: cannot be limited to one domain, so a bound key is refused.
 * - `caller`: returns only facts about the caller and its limits, never about a domain.
 */
export type Rule = "own domain" | "whole account" | "caller"

type Rules = {
  readonly [G in Group as G["identifier"]]: {
    readonly [E in HttpApiEndpoint.Identifier<HttpApiGroup.Endpoints<G>>]: Rule
  }
}

/**
 * The rule of every endpoint. The type requires an entry for each one, so that a new endpoint does not compile without
 * it.
 */
export const RULES: Rules = {
  emails: {
    send: "own domain",
    sendBatch: "own domain",
    get: "own domain",
    cancel: "own domain",
    reschedule: "own domain",
    resend: "own domain",
    receipt: "own domain",
  },
  logs: { list: "own domain", get: "own domain", events: "own domain" },
  domains: {
    list: "own domain",
    get: "own domain",
    dmarc: "own domain",
    tls: "own domain",
    add: "own domain",
    verify: "own domain",
    rotateDkim: "own domain",
    addEd25519: "own domain",
    rotateEd25519: "own domain",
    removeEd25519: "own domain",
    update: "own domain",
    remove: "own domain",
  },
  apiKeys: { list: "own domain", get: "own domain", create: "own domain", revoke: "own domain" },
  sandbox: { list: "own domain", get: "own domain", remove: "own domain", clear: "own domain" },
  stats: { get: "own domain" },
  // A thread may hold mail of several domains.
  inbound: {
    list: "own domain",
    get: "own domain",
    raw: "own domain",
    receipt: "own domain",
    attachment: "own domain",
    remove: "own domain",
    replay: "own domain",
    reply: "own domain",
    forward: "own domain",
    thread: "whole account",
    test: "own domain",
  },
  // A route is for mail of all domains.
  inboundRoutes: {
    list: "whole account",
    get: "whole account",
    create: "whole account",
    update: "whole account",
    remove: "whole account",
    test: "whole account",
  },
  // A template makes mail of any domain.
  templates: {
    list: "whole account",
    get: "whole account",
    create: "whole account",
    update: "whole account",
    archive: "whole account",
    publish: "whole account",
    versions: "whole account",
    version: "whole account",
    rollback: "whole account",
    duplicate: "whole account",
    render: "whole account",
    push: "whole account",
    validate: "whole account",
  },
  // A webhook receives the events of all domains, and its deliveries contain them.
  webhooks: {
    list: "whole account",
    get: "whole account",
    create: "whole account",
    update: "whole account",
    remove: "whole account",
    test: "whole account",
    rotateSecret: "whole account",
    deliveries: "whole account",
    delivery: "whole account",
    replayDelivery: "whole account",
    replay: "whole account",
  },
  // A suppression applies to all domains, and names recipients of any.
  suppressions: {
    list: "whole account",
    get: "whole account",
    add: "whole account",
    batch: "whole account",
    remove: "whole account",
  },
  // A member signs in to the whole account.
  members: {
    session: "caller",
    list: "whole account",
    invite: "whole account",
    changeRole: "whole account",
    makeLink: "whole account",
    remove: "whole account",
  },
  // A clock may carry the mail of all domains.
  testClocks: {
    list: "whole account",
    get: "whole account",
    create: "whole account",
    advance: "whole account",
    remove: "whole account",
  },
  account: { get: "caller" },
  events: { list: "whole account", stream: "whole account" },
  audit: { list: "whole account" },
  // Shows the calls of the key itself, because those of other keys may be about other domains.
  requests: { list: "caller", get: "caller" },
}

const byName: { readonly [group: string]: { readonly [endpoint: string]: Rule } } = RULES

/** Returns the rule of an endpoint. An endpoint without an entry is refused to bound keys. */
export const ruleOf = (group: string, endpoint: string): Rule => byName[group]?.[endpoint] ?? "whole account"
