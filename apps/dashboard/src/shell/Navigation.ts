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
  Mail,
  PenLine,
  ScrollText,
  Server,
  ShieldCheck,
  Users,
  Webhook,
  type LucideIcon,
} from "lucide-react"
import { instance } from "../api/instance.ts"
import type { Scope, Session } from "../api/Records.ts"

export interface Place {
  readonly name: string
  readonly to: string
  readonly icon: LucideIcon
  /** After `g`. */
  readonly key: string
  /** Without it there is nothing to see there. */
  readonly scope?: Scope
  /** For those who run the instance. */
  readonly operator?: true
}

const inbox: ReadonlyArray<Place> =
  instance.transport === "capture"
    ? [{ name: "Inbox", to: "/inbox", icon: Inbox, key: "i", scope: "email:logs:read" }]
    : []

/** All there is to go to, in the order of the navigation. */
export const PLACES: ReadonlyArray<{ readonly title: string; readonly places: ReadonlyArray<Place> }> = [
  {
    title: "Mail",
    places: [
      { name: "Overview", to: "/overview", icon: Activity, key: "o", scope: "email:logs:read" },
      { name: "Emails", to: "/emails", icon: Mail, key: "l", scope: "email:logs:read" },
      ...inbox,
      { name: "Compose", to: "/compose", icon: PenLine, key: "c", scope: "email:send" },
    ],
  },
  {
    title: "Sending",
    places: [
      { name: "Domains", to: "/domains", icon: Globe, key: "d", scope: "domains:read" },
      { name: "Webhooks", to: "/webhooks", icon: Webhook, key: "w", scope: "webhooks:manage" },
      { name: "Suppressions", to: "/suppressions", icon: Ban, key: "s", scope: "email:logs:read" },
    ],
  },
  {
    title: "Settings",
    places: [
      { name: "API Keys", to: "/settings/api-keys", icon: KeyRound, key: "k", scope: "admin" },
      { name: "Members", to: "/settings/members", icon: Users, key: "m", scope: "admin" },
      { name: "Plan and usage", to: "/settings/plan", icon: Gauge, key: "p" },
      { name: "Audit log", to: "/settings/audit", icon: ScrollText, key: "a", scope: "admin" },
      { name: "Your sign-in", to: "/settings/sign-in", icon: ShieldCheck, key: "y" },
    ],
  },
  {
    title: "Instance",
    places: [
      { name: "Accounts", to: "/operate/accounts", icon: Building2, key: "t", operator: true },
      { name: "Queues", to: "/operate/queues", icon: Layers, key: "q", operator: true },
      { name: "Projections", to: "/operate/projections", icon: Blocks, key: "j", operator: true },
      { name: "Nodes", to: "/operate/nodes", icon: Server, key: "n", operator: true },
    ],
  },
]

export const ALL_PLACES: ReadonlyArray<Place> = PLACES.flatMap(({ places }) => places)

export const permits = (granted: ReadonlyArray<Scope>, needed: Scope | undefined): boolean =>
  needed === undefined || granted.includes(needed) || granted.includes("admin")

export const isFor = ({ operator, scope }: Place, may: Session): boolean =>
  permits(may.scopes, scope) && (operator !== true || may.operator)
