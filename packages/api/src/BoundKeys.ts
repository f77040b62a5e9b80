import * as Groups from "./Groups.ts"

/**
 * How an endpoint treats a key that is bound to one domain.
 * - `own domain`: reads and changes only what belongs to that domain; another domain's object is 403.
 * - `whole account`: cannot be limited to one domain, so a bound key is refused.
 * - `caller`: returns only facts about the caller and its limits, never about a domain.
 */
export type Rule = "own domain" | "whole account" | "caller"

/** The rule of every endpoint. */
export const RULES: Groups.Rules<Rule> = {
  emails: "own domain",
  logs: "own domain",
  domains: "own domain",
  apiKeys: "own domain",
  sandbox: "own domain",
  stats: "own domain",
  // A thread may hold mail of several domains.
  inbound: { otherwise: "own domain", thread: "whole account" },
  // A route is for mail of all domains.
  inboundRoutes: "whole account",
  // A template makes mail of any domain.
  templates: "whole account",
  // A webhook receives the events of all domains, and its deliveries contain them.
  webhooks: "whole account",
  // A suppression applies to all domains, and names recipients of any.
  suppressions: "whole account",
  // A member signs in to the whole account.
  members: { otherwise: "whole account", session: "caller" },
  // A clock may carry the mail of all domains.
  testClocks: "whole account",
  account: "caller",
  events: "whole account",
  audit: "whole account",
  // Shows the calls of the key itself, because those of other keys may be about other domains.
  requests: "caller",
}

/** Returns the rule of an endpoint. An unknown one is refused to bound keys. */
export const ruleOf = (group: string, endpoint: string): Rule => Groups.ruleIn(RULES, group, endpoint, "whole account")
