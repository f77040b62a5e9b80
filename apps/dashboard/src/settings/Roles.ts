import type { Role } from "../api/Records.ts"

export const nameOf = (role: Role): string => role.charAt(0).toUpperCase() + role.slice(1)

export const ROLES: ReadonlyArray<readonly [role: Role, description: string]> = [
  ["owner", "Full access, including members and API keys"],
  ["member", "Send email and manage domains and webhooks"],
  ["viewer", "View emails and domains"],
]

/** Roles as choices. */
export const OPTIONS = ROLES.map(([role]) => [role, nameOf(role)] as const)
