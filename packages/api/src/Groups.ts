import { Account } from "./Account.ts"
import { ApiKeys } from "./ApiKeys.ts"
import { Audit } from "./Audit.ts"
import { Domains } from "./Domains.ts"
import { Emails } from "./Emails.ts"
import { Events } from "./Events.ts"
import { Logs } from "./Logs.ts"
import { Members } from "./Members.ts"
import { Sandbox } from "./Sandbox.ts"
import { Statistics } from "./Stats.ts"
import { Suppressions } from "./Suppressions.ts"
import { Webhooks } from "./Webhooks.ts"

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
  Sandbox,
] as const
export type Group = (typeof GROUPS)[number]
