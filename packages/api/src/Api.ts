import { HttpApi, OpenApi } from "effect/http-api"
import { Account } from "./Account.ts"
import { ApiKeys } from "./ApiKeys.ts"
import { Audit } from "./Audit.ts"
import { finish } from "./Document.ts"
import { Domains } from "./Domains.ts"
import { Emails } from "./Emails.ts"
import { Events } from "./Events.ts"
import { Logs } from "./Logs.ts"
import { Members } from "./Members.ts"
import { Sandbox } from "./Sandbox.ts"
import { Statistics } from "./Stats.ts"
import { Suppressions } from "./Suppressions.ts"
import { System } from "./System.ts"
import { Webhooks } from "./Webhooks.ts"

export const PREFIX = "/v1"

/** The whole contract. Everything under /v1 only ever grows (contract §12). */
export class Api extends HttpApi.make("waybill")
  .add(Emails, Logs, Domains, ApiKeys, Webhooks, Suppressions, Account, Members, Statistics, Events, Audit, Sandbox)
  .prefix(PREFIX)
  .add(System)
  .annotate(HttpApi.PayloadParseOptions, { errors: "all" })
  .annotate(HttpApi.QueryParseOptions, { errors: "all" })
  .annotate(HttpApi.HeadersParseOptions, { errors: "all" })
  .annotateMerge(
    OpenApi.annotations({
      title: "Waybill",
      version: "1",
      summary: "Transactional email whose truth is an event log",
      description:
        "JSON in and out, snake_case; times are ISO 8601 UTC with milliseconds. Optional values that are absent are `null` in answers. Every answer carries `X-Request-Id` and the state of its rate window. Where logs are read at replicas, a write also answers `X-Waybill-Position`: sent along with the requests that follow, it makes any node show at least that much. Clients ignore fields, values and events that they do not know.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" } as { name: string },
      transform: finish,
    }),
  ) {}
