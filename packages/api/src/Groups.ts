import type { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Account } from "./groups/Account.ts"
import { ApiKeys } from "./groups/ApiKeys.ts"
import { Audit } from "./groups/history/Audit.ts"
import { Domains } from "./groups/Domains.ts"
import { Emails } from "./groups/Emails.ts"
import { Events } from "./groups/history/Events.ts"
import { Inbound } from "./groups/Inbound.ts"
import { InboundRoutes } from "./groups/InboundRoutes.ts"
import { Logs } from "./groups/Logs.ts"
import { Members } from "./groups/Members.ts"
import { Requests } from "./groups/history/Requests.ts"
import { Sandbox } from "./groups/Sandbox.ts"
import { Statistics } from "./groups/Stats.ts"
import { Suppressions } from "./groups/Suppressions.ts"
import { Templates } from "./groups/templates/Templates.ts"
import { TestClocks } from "./groups/TestClocks.ts"
import { Webhooks } from "./groups/Webhooks.ts"

/** The endpoint groups under /v1, which require an API key or a dashboard session. */
export const GROUPS = [
  Emails,
  Logs,
  Domains,
  ApiKeys,
  Webhooks,
  Suppressions,
  Account,
  Members,
  Statistics,
  Events,
  Audit,
  Requests,
  Sandbox,
  TestClocks,
  Inbound,
  InboundRoutes,
  Templates,
] as const
export type Group = (typeof GROUPS)[number]

type EndpointOf<G extends Group> = HttpApiEndpoint.Identifier<HttpApiGroup.Endpoints<G>>

/** A rule for every endpoint: one for a whole group, or `otherwise` and exceptions. A new group does not compile without. */
export type Rules<Rule> = {
  readonly [G in Group as G["identifier"]]:
    | Rule
    | ({ readonly otherwise: Rule } & { readonly [E in EndpointOf<G>]?: Rule })
}

/** Returns the rule of an endpoint, or that of unknown groups. */
export const ruleIn = <Rule extends string>(
  rules: Rules<Rule>,
  group: string,
  endpoint: string,
  unknown: Rule,
): Rule => {
  type Given = Rule | { readonly otherwise: Rule; readonly [endpoint: string]: Rule }
  const given = Object.hasOwn(rules, group) ? (rules as { readonly [group: string]: Given })[group] : undefined
  if (given === undefined) return unknown
  return typeof given === "string" ? given : (given[endpoint] ?? given.otherwise)
}
