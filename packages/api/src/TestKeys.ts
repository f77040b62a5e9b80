import * as Refusal from "@waybill/domain/values/Refusal"
import * as Groups from "./Groups.ts"

/**
 * How an endpoint treats a test key.
 * - `own mode`: reads and changes test mail and what belongs to it; live keys see live mail only. A dashboard session
 *   chooses with `livemode`.
 * - `live only`: the account's keys, domains, webhooks and members, which test mode shares: a test key is refused.
 * - `test only`: things of test mail alone; a live key is refused, and a session works with those of its account.
 * - `caller`: returns only facts about the caller and its limits.
 */
export type Rule = "own mode" | "live only" | "test only" | "caller"

/** The rule of every endpoint. */
export const RULES: Groups.Rules<Rule> = {
  emails: "own mode",
  logs: "own mode",
  domains: "live only",
  apiKeys: "live only",
  sandbox: "own mode",
  stats: "own mode",
  inbound: "own mode",
  inboundRoutes: "live only",
  // Test mail is made of the templates of the account.
  templates: "live only",
  webhooks: "live only",
  // Test mail has a suppression list of its own.
  suppressions: "own mode",
  members: { otherwise: "live only", session: "caller" },
  account: "own mode",
  events: "own mode",
  audit: "live only",
  requests: "own mode",
  testClocks: "test only",
}

/** Returns the rule of an endpoint. An unknown one is refused to test keys. */
export const ruleOf = (group: string, endpoint: string): Rule => Groups.ruleIn(RULES, group, endpoint, "live only")

/** A test key was used at an endpoint for live things. */
export class LiveOnly extends Refusal.of("LiveOnly", 403, "live_only") {
  override readonly message =
    "This is a test key: it works with test mail only, and this endpoint is not about mail. Use a live key."
}

/** A live key was used at an endpoint for test mail. */
export class TestOnly extends Refusal.of("TestOnly", 403, "test_only") {
  override readonly message = "This is a live key, and live mail never lives on a test clock. Use a test key."
}

/** A key asked for mail of the other mode. */
export class OtherMode extends Refusal.of("OtherMode", 403, "other_mode")<{ readonly livemode: boolean }> {
  override readonly message = this.livemode
    ? "This is a live key: it sees live mail only. Use a test key for test mail."
    : "This is a test key: it sees test mail only. Use a live key for live mail."
  readonly details = [{ path: "livemode", message: `must be ${this.livemode} for this key` }]
}
