import type { Array } from "effect"
import type { Site } from "./SiteConnections.ts"

/** Connections to a server that has not said anything about its limits. */
export const DEFAULT_CONNECTIONS = 5
export const DEFAULT_MESSAGES = 50

/**
 * Limits of providers that receive for many domains and count a sender's connections over all of them, each under one
 * key. The numbers are cautious; a provider that wants fewer says so, and the pool follows.
 */
interface Rule {
  /** Suffix of the names of its servers. */
  readonly suffix: string
  /** Key of the provider, when its servers have several suffixes. */
  readonly key?: string
  readonly connections: number
  readonly messages: number
}

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

/**
 * Returns the site of a set of servers. A domain may name any servers: unless all of them are the provider's, their
 * replies must not count against the provider.
 */
export const siteOf = (hosts: Array.NonEmptyReadonlyArray<string>): Site => {
  const route = hosts.toSorted().join(" ")
  const rule = ruleOf(hosts[0])
  return rule === undefined || hosts.some((host) => keyOf(ruleOf(host)) !== keyOf(rule))
    ? { key: route, route, connections: DEFAULT_CONNECTIONS, messages: DEFAULT_MESSAGES }
    : { key: keyOf(rule) ?? route, route, connections: rule.connections, messages: rule.messages }
}

const ruleOf = (host: string): Rule | undefined =>
  RULES.find(({ suffix }) => host === suffix || host.endsWith(`.${suffix}`))

const keyOf = (rule: Rule | undefined): string | undefined => rule?.key ?? rule?.suffix
