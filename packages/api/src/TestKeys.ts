import type { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Schema } from "effect"
import type { Detail } from "@waybill/domain/values/Refusal"
import type { Group } from "./Groups.ts"

/**
 * How an endpoint treats a test key (contract §7).
 * - `own mode`: reads and changes test mail and what belongs to it; live keys see live mail only. A dashboard session
 *   chooses with `livemode`.
 * - `live only`: the account's keys, domains, webhooks and members, which test mode shares: a test key is refused.
 * - `test only`: things of test mail alone; a live key is refused, and a session works with those of its account.
 * - `caller`: returns only facts about the caller and its limits.
 */
export type Rule = "own mode" | "live only" | "test only" | "caller"

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
    send: "own mode",
    sendBatch: "own mode",
    get: "own mode",
    cancel: "own mode",
    reschedule: "own mode",
    resend: "own mode",
    receipt: "own mode",
  },
  logs: { list: "own mode", get: "own mode", events: "own mode" },
  domains: {
    list: "live only",
    get: "live only",
    dmarc: "live only",
    tls: "live only",
    add: "live only",
    verify: "live only",
    rotateDkim: "live only",
    addEd25519: "live only",
    rotateEd25519: "live only",
    removeEd25519: "live only",
    update: "live only",
    remove: "live only",
  },
  apiKeys: { list: "live only", get: "live only", create: "live only", revoke: "live only" },
  sandbox: { list: "own mode", get: "own mode", remove: "own mode", clear: "own mode" },
  stats: { get: "own mode" },
  inbound: {
    list: "own mode",
    get: "own mode",
    raw: "own mode",
    receipt: "own mode",
    attachment: "own mode",
    remove: "own mode",
    replay: "own mode",
    reply: "own mode",
    forward: "own mode",
    thread: "own mode",
    test: "own mode",
  },
  inboundRoutes: {
    list: "live only",
    get: "live only",
    create: "live only",
    update: "live only",
    remove: "live only",
    test: "live only",
  },
  // Test mail is made of the templates of the account.
  templates: {
    list: "live only",
    get: "live only",
    create: "live only",
    update: "live only",
    archive: "live only",
    publish: "live only",
    versions: "live only",
    version: "live only",
    rollback: "live only",
    duplicate: "live only",
    render: "live only",
    push: "live only",
    validate: "live only",
  },
  webhooks: {
    list: "live only",
    get: "live only",
    create: "live only",
    update: "live only",
    remove: "live only",
    test: "live only",
    rotateSecret: "live only",
    deliveries: "live only",
    delivery: "live only",
    replayDelivery: "live only",
    replay: "live only",
  },
  // Test mail has a suppression list of its own.
  suppressions: { list: "own mode", get: "own mode", add: "own mode", batch: "own mode", remove: "own mode" },
  members: {
    session: "caller",
    list: "live only",
    invite: "live only",
    changeRole: "live only",
    makeLink: "live only",
    remove: "live only",
  },
  account: { get: "own mode" },
  events: { list: "own mode", stream: "own mode" },
  audit: { list: "live only" },
  requests: { list: "own mode", get: "own mode" },
  testClocks: { list: "test only", get: "test only", create: "test only", advance: "test only", remove: "test only" },
}

const byName: { readonly [group: string]: { readonly [endpoint: string]: Rule } } = RULES

/** Returns the rule of an endpoint. An endpoint without an entry is refused to test keys. */
export const ruleOf = (group: string, endpoint: string): Rule => byName[group]?.[endpoint] ?? "live only"

/** A test key was used at an endpoint for live things. */
export class LiveOnly extends Schema.TaggedError<LiveOnly>()("LiveOnly", {}) {
  readonly status = 403
  readonly reason = "live_only"
  override get message() {
    return "This is a test key: it works with test mail only, and this endpoint is not about mail. Use a live key."
  }
}

/** A live key was used at an endpoint for test mail. */
export class TestOnly extends Schema.TaggedError<TestOnly>()("TestOnly", {}) {
  readonly status = 403
  readonly reason = "test_only"
  override get message() {
    return "This is a live key, and live mail never lives on a test clock. Use a test key."
  }
}

/** A key asked for mail of the other mode. */
export class OtherMode extends Schema.TaggedError<OtherMode>()("OtherMode", { livemode: Schema.Boolean }) {
  readonly status = 403
  readonly reason = "other_mode"
  override get message() {
    return this.livemode
      ? "This is a live key: it sees live mail only. Use a test key for test mail."
      : "This is a test key: it sees test mail only. Use a live key for live mail."
  }
  get details(): ReadonlyArray<Detail> {
    return [{ path: "livemode", message: `must be ${this.livemode} for this key` }]
  }
}
