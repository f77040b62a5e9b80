import {
  Activity,
  Ban,
  Gauge,
  Globe,
  Inbox,
  KeyRound,
  Mail,
  PenLine,
  ScrollText,
  ShieldCheck,
  Users,
  Webhook,
  type LucideIcon,
} from "lucide-react"
import { instance } from "../api/instance.ts"
import type { Scope } from "../api/records.ts"

export interface Place {
  readonly name: string
  readonly to: string
  readonly icon: LucideIcon
  /** After `g`. */
  readonly key: string
  /** Without it there is nothing to see there. */
  readonly scope?: Scope
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
]

export const ALL_PLACES: ReadonlyArray<Place> = PLACES.flatMap(({ places }) => places)

export const permits = (granted: ReadonlyArray<Scope>, needed: Scope | undefined): boolean =>
  needed === undefined || granted.includes(needed) || granted.includes("admin")
