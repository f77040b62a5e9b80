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

/** The whole public API. Everything under /v1 only grows (contract §12). */
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
      summary: "Self-hosted transactional email on Postgres, with a complete history of every message",
      description:
        "Requests and responses are JSON in snake_case; times are ISO 8601 UTC with milliseconds. Absent optional values are `null` in responses. Every response has `X-Request-Id` and the rate limit headers. If logs are read from replicas, a write also returns `X-Waybill-Position`; send it with later requests to read your own writes on any node. Ignore fields, values and event types that you do not know.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" } as { name: string },
      transform: finish,
    }),
  ) {}
