import type { PgClient } from "@effect/sql-pg"
import * as RateWindows from "@waybill/store/admission/RateWindows"
import * as CanceledContent from "@waybill/store/content/CanceledContent"
import * as Content from "@waybill/store/content/Content"
import * as InboundContent from "@waybill/store/content/InboundContent"
import * as Sandbox from "@waybill/store/content/Sandbox"
import * as UnreadReports from "@waybill/store/content/UnreadReports"
import * as DomainReports from "@waybill/store/domainreports/DomainReports"
import * as Retention from "@waybill/store/erasure/Retention"
import * as ExpiredKeys from "@waybill/store/idempotency/ExpiredKeys"
import * as ProviderEvents from "@waybill/store/providers/ProviderEvents"
import * as ProviderMessages from "@waybill/store/providers/ProviderMessages"
import * as RequestLogDays from "@waybill/store/requests/RequestLogDays"
import * as EveryDatabase from "@waybill/store/routing/EveryDatabase"
import * as DomainKeys from "@waybill/store/secrets/DomainKeys"
import { Secrets } from "@waybill/store/secrets/Secrets"
import * as SourceAddresses from "@waybill/store/sources/SourceAddresses"
import * as SourceCounts from "@waybill/store/sources/SourceCounts"
import * as SourcePauses from "@waybill/store/sources/SourcePauses"
import * as EmailStatsMonths from "@waybill/store/statistics/EmailStatsMonths"
import * as Users from "@waybill/store/users/Users"
import type { Dns } from "@waybill/mail/dns/Dns"
import * as MtaStsFetch from "@waybill/mail/dns/MtaStsFetch"
import { Effect } from "effect"
import type { Settings } from "../../settings/Settings.ts"
import { checkSources } from "../../sources/checkSources.ts"
import type * as Graphile from "../../worker/Graphile.ts"
import { refreshPolicies } from "../../worker/periodic/refreshPolicies.ts"
import * as Service from "./Service.ts"

/** Periodic work that needs no settings. */
export const withoutSettings = Effect.map(EveryDatabase.periodic, (everywhere) => ({
  expire_sandbox: { run: everywhere(Sandbox.expire()), cron: "7 * * * *" },
  remove_canceled_content: { run: everywhere(CanceledContent.remove()), cron: "*/10 * * * *" },
  expire_content: { run: everywhere(Content.expire()), cron: "17 * * * *" },
  expire_idempotency_keys: { run: everywhere(ExpiredKeys.expire()), cron: "27 * * * *" },
  expire_history: { run: everywhere(Retention.expire()), cron: "47 * * * *" },
  expire_unread_reports: { run: everywhere(UnreadReports.expire()), cron: "57 * * * *" },
  expire_inbound_content: { run: everywhere(InboundContent.expire()), cron: "33 * * * *" },
  expire_provider_events: {
    run: everywhere(Effect.andThen(ProviderMessages.expire(), ProviderEvents.expire())),
    cron: "37 * * * *",
  },
  expire_source_counts: {
    run: Effect.all([SourceCounts.expire(), SourcePauses.expire(), SourceAddresses.expireHosts()]),
    cron: "23 * * * *",
  },
  sweep_secrets: {
    run: everywhere(Effect.flatMap(Secrets, ({ sweep }) => Effect.andThen(DomainKeys.retire(), sweep))),
    cron: "37 3 * * *",
  },
  sweep_rate_windows: { run: everywhere(RateWindows.sweep()), cron: "*/10 * * * *" },
  sweep_sign_ins: { run: Users.sweep(), cron: "17 * * * *" },
}))

/** All periodic work of a service. The tables of statistics are also made at its start. */
export const make = Effect.fnUntraced(function* (settings: Settings) {
  const everywhere = yield* EveryDatabase.periodic
  const months = everywhere(EmailStatsMonths.keep(settings.statsMonths))
  yield* Effect.forkScoped(Effect.annotateLogs(months, { task: "keep_statistics" }))
  const tasks: Graphile.Tasks<Dns | PgClient.PgClient | Secrets> = {
    ...(yield* withoutSettings),
    keep_request_log: { run: everywhere(RequestLogDays.keep(settings.requestLogDays)), cron: "3 * * * *" },
    expire_domain_reports: { run: everywhere(DomainReports.expire(settings.domainReportDays)), cron: "13 * * * *" },
    check_source_addresses: {
      run: checkSources({ name: Service.ehloName(settings), blocklists: settings.blocklists }),
      cron: "*/30 * * * *",
    },
    refresh_policies: { run: refreshPolicies(yield* MtaStsFetch.make()), cron: "*/10 * * * *" },
    keep_statistics: { run: months, cron: "57 2 * * *" },
  }
  return tasks
})
