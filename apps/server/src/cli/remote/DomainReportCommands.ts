import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import * as DataCommand from "../DataCommand.ts"
import * as Options from "../Options.ts"
import * as Output from "../Output.ts"
import { ApiClient, call } from "./ApiClient.ts"

const flags = {
  name: Options.argument("domain", "Domain name, such as news.example.com"),
  days: Options.int("days", "Days up to today that are counted; 30 by default"),
  unverified: Flag.Boolean("unverified").pipe(
    Flag.withDefault(false),
    Flag.withDescription("Show the reports without a genuine signature of their sender"),
  ),
}

interface Shared {
  readonly domain: string
  readonly days: number
  readonly verified: boolean
  readonly record: { readonly name: string; readonly value: string } | null
  readonly reporters: ReadonlyArray<unknown>
  readonly unverified_reports: number
}

const queryOf = (days: Option.Option<number>, unverified: boolean) => ({
  limit: 1_000,
  verified: !unverified,
  ...Option.match(days, { onNone: () => ({}), onSome: (days) => ({ days }) }),
})

const heading = ({ days, domain, reporters, unverified_reports, verified }: Shared): string =>
  `${domain}, last ${days} days, ${verified ? "verified" : "unverified"} reports of ${reporters.length} ${
    reporters.length === 1 ? "reporter" : "reporters"
  }.${verified && unverified_reports > 0 ? ` Unverified reports: ${unverified_reports}, shown with --unverified.` : ""}`

const hint = ({ record, reporters }: Shared): ReadonlyArray<string> =>
  record === null || reporters.length > 0
    ? []
    : [`No reports yet. To receive them, publish a TXT record ${record.name} with the value:`, record.value]

const SOURCE_COLUMNS = [
  "source_ip",
  "messages",
  "aligned",
  "dkim_aligned",
  "spf_aligned",
  "quarantined",
  "rejected",
  "dkim_domain",
  "spf_domain",
  "overrides",
  "reporters",
  "last_day",
]

export const dmarc = DataCommand.told(
  flags,
  function* ({ days, name, unverified }) {
    return yield* call((client) => client.domains.dmarc(name, queryOf(days, unverified)))
  },
  Effect.fnUntraced(function* (reports) {
    yield* Output.say(heading(reports), ...hint(reports), "")
    const rows = reports.sources.map((source) => ({
      ...source,
      source_ip: source.source_ip ?? "others",
      overrides: source.overrides.map(({ messages, reason }) => `${reason} ${messages}`).join(", "),
      reporters: source.reporters.join(", "),
    }))
    yield* Output.print(rows, { json: false, columns: SOURCE_COLUMNS })
  }),
).with(Command.provide(ApiClient.layer))

const POLICY_COLUMNS = ["policy", "succeeded", "failed", "last_day"]
const FAILURE_COLUMNS = ["policy", "failure", "server", "sessions", "reporters", "last_day"]

export const tls = DataCommand.told(
  flags,
  function* ({ days, name, unverified }) {
    return yield* call((client) => client.domains.tls(name, queryOf(days, unverified)))
  },
  Effect.fnUntraced(function* (reports) {
    yield* Output.say(heading(reports), ...hint(reports), "")
    yield* Output.print(reports.policies, { json: false, columns: POLICY_COLUMNS })
    if (reports.failures.length === 0) return
    yield* Output.say("")
    const rows = reports.failures.map((failure) => ({ ...failure, reporters: failure.reporters.join(", ") }))
    yield* Output.print(rows, { json: false, columns: FAILURE_COLUMNS })
  }),
).with(Command.provide(ApiClient.layer))
