import {
  Activity,
  Ban,
  Blocks,
  Building2,
  Gauge,
  Globe,
  Inbox,
  KeyRound,
  Layers,
  LayoutTemplate,
  Mail,
  MailOpen,
  Network,
  PenLine,
  Plug,
  ScrollText,
  Server,
  ShieldCheck,
  Signpost,
  SlidersHorizontal,
  SquareTerminal,
  Users,
  Webhook,
  type LucideIcon,
} from "lucide-react"
import * as Phrases from "@waybill/domain/search/Phrases"
import { instance } from "../api/instance.ts"
import { permits } from "@waybill/domain/account/permits"
import * as Mode from "../api/Mode.ts"
import type { Scope, Session } from "../api/Records.ts"

export interface NavigationItem {
  readonly name: string
  readonly to: string
  readonly icon: LucideIcon
  /** Other names by which people look for the screen. */
  readonly keywords?: ReadonlyArray<string>
  /** Opens the screen after `g`. */
  readonly key: string
  /** Scope that the screen requires. */
  readonly scope?: Scope
  /** Whether the screen is for operators of the instance only. */
  readonly operator?: true
  /** Whether the screen shows mail of the sandbox, where test mail always is. */
  readonly sandbox?: true
  /** Whether a name after a keyword is searched on the screen, or an object is its filter. */
  readonly isSearched?: true
}

/** All screens, in the order of the sidebar. */
export const SECTIONS: ReadonlyArray<{ readonly title: string; readonly screens: ReadonlyArray<NavigationItem> }> = [
  {
    title: "Email",
    screens: [
      {
        name: "Overview",
        to: "/overview",
        icon: Activity,
        key: "o",
        scope: "email:logs:read",
        keywords: ["how many emails did we send", "is anything wrong", "problems", "health", "bounce rate"],
      },
      { name: "Emails", to: "/emails", icon: Mail, key: "e", scope: "email:logs:read" },
      { name: "Received", to: "/received", icon: MailOpen, key: "i", scope: "inbound:read" },
      { name: "Routes", to: "/routes", icon: Signpost, key: "u", scope: "inbound:write" },
      { name: "Sandbox", to: "/sandbox", icon: Inbox, key: "x", scope: "email:logs:read", sandbox: true },
      { name: "Compose", to: "/compose", icon: PenLine, key: "c", scope: "email:send" },
      {
        name: "Requests",
        to: "/requests",
        icon: SquareTerminal,
        key: "r",
        scope: "email:logs:read",
        keywords: ["request refused", "request rejected", "request failed", "refused", "api calls"],
      },
    ],
  },
  {
    title: "Sending",
    screens: [
      {
        name: "Domains",
        to: "/domains",
        icon: Globe,
        key: "d",
        scope: "domains:read",
        keywords: ["domain healthy", "domain ok", "dkim", "spf", "dmarc", "dns", "rotate dkim"],
      },
      { name: "Templates", to: "/templates", icon: LayoutTemplate, key: "t", scope: "templates:read" },
      {
        name: "Webhooks",
        to: "/webhooks",
        icon: Webhook,
        key: "w",
        scope: "webhooks:manage",
        keywords: ["endpoint", "replay", "signing secret", "rotate secret"],
      },
      {
        name: "Suppressions",
        to: "/suppressions",
        icon: Ban,
        key: "s",
        scope: "suppressions:read",
        keywords: ["stop mail", "block address", "unsubscribe"],
      },
    ],
  },
  {
    title: "Settings",
    screens: [
      {
        name: "API keys",
        to: "/settings/api-keys",
        icon: KeyRound,
        key: "k",
        scope: "admin",
        keywords: [
          "rotate key",
          "revoke key",
          "api key",
          "which key",
          "key sent",
          "pause sending",
          "stop sending",
          "token",
          "smtp",
        ],
      },
      { name: "Members", to: "/settings/members", icon: Users, key: "m", scope: "admin" },
      {
        name: "Plan and usage",
        to: "/settings/plan",
        icon: Gauge,
        key: "p",
        keywords: ["how many emails did we send", "usage", "quota"],
      },
      {
        name: "Audit log",
        to: "/settings/audit",
        icon: ScrollText,
        key: "a",
        scope: "admin",
        keywords: ["who changed", "who created", "who added", "who deleted", "who removed", "who revoked", "history"],
        isSearched: true,
      },
      {
        name: "Profile",
        to: "/settings/sign-in",
        icon: ShieldCheck,
        key: "y",
        keywords: ["change password", "change my password", "password", "passkey", "two-factor"],
      },
    ],
  },
  {
    title: "Instance",
    screens: [
      { name: "Accounts", to: "/operate/accounts", icon: Building2, key: "b", operator: true },
      { name: "Queues", to: "/operate/queues", icon: Layers, key: "q", operator: true },
      { name: "Projections", to: "/operate/projections", icon: Blocks, key: "j", operator: true },
      { name: "Providers", to: "/operate/providers", icon: Plug, key: "v", operator: true },
      { name: "Addresses", to: "/operate/addresses", icon: Network, key: "l", operator: true },
      { name: "Nodes", to: "/operate/nodes", icon: Server, key: "n", operator: true },
      {
        name: "Configuration",
        to: "/operate/settings",
        icon: SlidersHorizontal,
        key: "f",
        operator: true,
        keywords: ["settings", "environment", "installation"],
      },
    ],
  },
]

/** Section of those who operate the instance, which is folded on the screens of the others. */
export const FOLDED = "Instance"

export const ALL_SCREENS: ReadonlyArray<NavigationItem> = SECTIONS.flatMap(({ screens }) => screens)

/** Shortest beginning of a keyword that means it. */
const MIN_KEYWORD_CHARS = 3

/**
 * Whether a text begins as a keyword of the screen does, also after words that say nothing: "who changed my domain", "rot",
 * "why was my request refused". Parts within mean nothing.
 */
export const isMeant = ({ keywords = [] }: Pick<NavigationItem, "keywords">, text: string): boolean => {
  const words = text.toLowerCase().split(/\s+/u)
  const first = words.findIndex((word) => !Phrases.FILLERS.has(word))
  return [words, first < 0 ? [] : words.slice(first)].some((part) => {
    const typed = part.join(" ")
    return (
      typed.length >= MIN_KEYWORD_CHARS &&
      keywords.some((keyword) => keyword.startsWith(typed) || `${typed} `.startsWith(`${keyword} `))
    )
  })
}

/** Objects of the audit log by their names. */
const OBJECTS: ReadonlyMap<string, string> = new Map([
  ["key", "api_key"],
  ["domain", "domain"],
  ["webhook", "webhook"],
  ["endpoint", "webhook"],
  ["template", "template"],
  ["route", "inbound_route"],
  ["suppression", "suppression"],
  ["member", "team"],
  ["account", "account"],
  ["plan", "account"],
])

/**
 * Returns what the screen searches for after a keyword: "who changed acme.com", "who changed the webhook". One of filler
 * words is nothing.
 */
export const searchIn = ({ isSearched, keywords = [] }: NavigationItem, text: string) => {
  const keyword = keywords.find((each) => text.toLowerCase().startsWith(`${each} `))
  const name = isSearched && keyword !== undefined ? text.slice(keyword.length).replace(/[?]$/u, "").trim() : ""
  const words = name
    .toLowerCase()
    .replace(/^(?:the|a|an|my|our|this) /u, "")
    .replace(/^api /u, "")
  const stream = OBJECTS.get(words.replace(/s$/u, ""))
  if (stream !== undefined) return { shown: words, search: { stream } }
  const isName = name !== "" && !name.split(/\s+/u).some((word) => Phrases.FILLERS.has(word.toLowerCase()))
  return isName ? { shown: name, search: { q: name } } : undefined
}

/** Whether the session may open this path: that of a screen, or of a record that a screen lists. */
export const isAllowed = (path: string, session: Session): boolean => {
  const screen = ALL_SCREENS.find(({ to }) => path === to || path.startsWith(`${to}/`))
  return screen === undefined || isPermitted(screen, session)
}

const isPermitted = ({ operator, scope }: NavigationItem, session: Session): boolean =>
  (scope === undefined || permits(session.scopes, scope)) && (operator !== true || session.operator)

export const isVisible = (screen: NavigationItem, session: Session): boolean =>
  isPermitted(screen, session) && (screen.sandbox !== true || instance.transport === "capture" || Mode.isTest())
