import type { Domain } from "@waybill/client/Waybill"
import * as DomainName from "@waybill/domain/domain/DomainName"
import { Effect, Schema } from "effect"
import { type ToolAnswer, clipped, listed } from "../ToolAnswer.ts"
import { domainText } from "./domainText.ts"
import { ask, READS, tool } from "../Tool.ts"

const health = tool({
  name: "get_domain_health",
  title: "Get the health of domains",
  description:
    "Tells whether a sending domain can send, and which DNS records are missing or wrong, with the values to publish. Without a name, all domains in short.",
  annotations: READS,
  input: Schema.Struct({ domain: Schema.optionalKey(DomainName.FromText) }),
  run: (waybill, { domain }) =>
    domain === undefined
      ? ask(() => waybill.domains.list()).pipe(Effect.map(({ data }) => inShort(data)))
      : ask(() => waybill.domains.get(domain)).pipe(Effect.map(inFull)),
})

const inShort = (domains: ReadonlyArray<Domain>): ToolAnswer => ({
  summary: domains.length === 0 ? "There are no domains yet." : `${domains.length} domains.`,
  rows: domains.map((domain) => ({ name: domain.name, status: domain.status, explanation: domainText(domain) })),
})

const inFull = (domain: Domain): ToolAnswer => ({
  summary: domainText(domain),
  facts: {
    name: domain.name,
    status: domain.status,
    verified_at: domain.verified_at,
    last_checked_at: domain.last_checked_at,
    next_check_at: domain.next_check_at,
    open_tracking: domain.open_tracking,
    click_tracking: domain.click_tracking,
    tracking_domain: domain.tracking_domain,
  },
  rows: domain.records.map(({ error, found, name, purpose, required, status, type, value }) => ({
    purpose,
    type,
    name,
    required,
    status,
    publish: value,
    untrusted: { found: listed(found), error: error === null ? undefined : clipped(error) },
  })),
})

export const all = [health]
