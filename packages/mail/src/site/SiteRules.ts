import { type Array, Context, Schema } from "effect"
import type { Site } from "./SiteConnections.ts"

/** Connections to a server that has not said anything about its limits. */
export const DEFAULT_CONNECTIONS = 5
export const DEFAULT_MESSAGES = 50

export const MAX_RULES = 1_000
export const MAX_CONNECTIONS = 1_000
export const MAX_MESSAGES = 100_000

const Count = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 1, maximum }))
const Name = Schema.String.check(Schema.isPattern(/^[a-z0-9](?:[a-z0-9.-]{0,98}[a-z0-9])?$/u))

/**
 * Limits of providers that receive for many domains and count a sender's connections over all of them, each under one
 * key. The numbers are cautious; a provider that wants fewer says so, and the pool follows.
 */
export const Rule = Schema.Struct({
  /** Suffix of the names of its servers. */
  suffix: Name,
  /** Key of the provider, when its servers have several suffixes. */
  key: Schema.optionalKey(Name),
  connections: Count(MAX_CONNECTIONS),
  messages: Count(MAX_MESSAGES),
})
export type Rule = typeof Rule.Type

/** A file of an operator's rules. */
export const RulesFile = Schema.Struct({ rules: Schema.Array(Rule).check(Schema.isMaxLength(MAX_RULES)) })

export const RULES: ReadonlyArray<Rule> = [
  { suffix: "google.com", connections: 10, messages: 50 },
  { suffix: "googlemail.com", key: "google.com", connections: 10, messages: 50 },
  { suffix: "protection.outlook.com", connections: 10, messages: 50 },
  { suffix: "yahoodns.net", connections: 5, messages: 20 },
  { suffix: "icloud.com", connections: 5, messages: 30 },
  { suffix: "gmx.net", connections: 3, messages: 30 },
  { suffix: "web.de", connections: 3, messages: 30 },
  { suffix: "t-online.de", connections: 3, messages: 30 },
  { suffix: "orange.fr", connections: 2, messages: 50 },
  { suffix: "free.fr", connections: 2, messages: 50 },
  { suffix: "laposte.net", connections: 2, messages: 50 },
]

/** Rules in force: the operator's come before the built-in ones. */
export class CurrentRules extends Context.Service<CurrentRules, ReadonlyArray<Rule>>()(
  "@waybill/mail/site/SiteRules/CurrentRules",
) {}

/**
 * Returns the site of a set of servers. A domain may name any servers: unless all of them are the provider's, their
 * replies must not count against the provider.
 */
export const siteOf = (hosts: Array.NonEmptyReadonlyArray<string>, rules: ReadonlyArray<Rule>): Site => {
  const route = hosts.toSorted().join(" ")
  const rule = ruleOf(hosts[0], rules)
  const isOfRule = (host: string, key: string) => {
    const other = ruleOf(host, rules)
    return other !== undefined && keyOf(other) === key
  }
  return rule === undefined || !hosts.every((host) => isOfRule(host, keyOf(rule)))
    ? { key: route, route, connections: DEFAULT_CONNECTIONS, messages: DEFAULT_MESSAGES }
    : { key: keyOf(rule), provider: keyOf(rule), route, connections: rule.connections, messages: rule.messages }
}

/** Returns the key of the provider of one server. */
export const providerOf = (host: string, rules: ReadonlyArray<Rule>): string | undefined => {
  const rule = ruleOf(host, rules)
  return rule === undefined ? undefined : keyOf(rule)
}

/** Keys of the providers that rules name. */
export const providersOf = (rules: ReadonlyArray<Rule>): ReadonlyArray<string> => [...new Set(rules.map(keyOf))]

/** Returns the site as reached from one of our addresses: providers count a sender's connections by address. */
export const siteFrom = (site: Site, address: string): Site => ({
  ...site,
  name: site.key,
  key: `${site.key} from ${address}`,
  route: `${site.route} from ${address}`,
})

const ruleOf = (host: string, rules: ReadonlyArray<Rule>): Rule | undefined =>
  rules.find(({ suffix }) => host === suffix || host.endsWith(`.${suffix}`))

const keyOf = (rule: Rule): string => rule.key ?? rule.suffix
