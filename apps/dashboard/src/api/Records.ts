// Types of the API's records, as JSON.
import type * as AccountApi from "@waybill/api/groups/Account"
import type * as KeysApi from "@waybill/api/groups/ApiKeys"
import type * as AuditApi from "@waybill/api/groups/history/Audit"
import type * as DomainsApi from "@waybill/api/groups/Domains"
import type * as ReportsApi from "@waybill/api/schemas/DomainReports"
import type * as EmailApi from "@waybill/api/schemas/EmailRecord"
import type * as EventApi from "@waybill/api/schemas/EventRecord"
import type * as InboundApi from "@waybill/api/groups/Inbound"
import type * as RoutesApi from "@waybill/api/groups/InboundRoutes"
import type * as MembersApi from "@waybill/api/groups/Members"
import type * as RequestsApi from "@waybill/api/groups/history/Requests"
import type * as SandboxApi from "@waybill/api/groups/Sandbox"
import type * as SavedViewsApi from "@waybill/api/schemas/SavedView"
import type * as StatsApi from "@waybill/api/groups/Stats"
import type * as SuppressionsApi from "@waybill/api/groups/Suppressions"
import type * as TemplatesApi from "@waybill/api/groups/templates/TemplateRecords"
import type * as DeliveryApi from "@waybill/api/schemas/WebhookDelivery"
import type * as WebhooksApi from "@waybill/api/groups/Webhooks"

export type Account = typeof AccountApi.AccountRecord.Encoded
export type { AccountQueue } from "@waybill/api/schemas/AccountQueue"
export type ApiKey = typeof KeysApi.ApiKeyRecord.Encoded
export type CreatedApiKey = typeof KeysApi.CreatedKey.Encoded
export type Scope = ApiKey["scopes"][number]
export type AuditEntry = typeof AuditApi.AuditEntry.Encoded
export type Domain = typeof DomainsApi.Domain.Encoded
export type DomainRecord = typeof DomainsApi.DomainRecord.Encoded
export type DmarcReports = typeof ReportsApi.DmarcReports.Encoded
export type TlsReports = typeof ReportsApi.TlsReports.Encoded
export type Email = typeof EmailApi.EmailRecord.Encoded
export type EmailWithContent = typeof EmailApi.WithContent.Encoded
export type EmailStatus = Email["status"]
export type Recipient = Email["recipients"][number]
export type EventRecord = typeof EventApi.EventRecord.Encoded
export type Member = typeof MembersApi.ListedMember.Encoded
export type MemberLink = typeof MembersApi.Link.Encoded
export type Request = typeof RequestsApi.RequestRecord.Encoded
export type RequestDetail = typeof RequestsApi.RequestDetail.Encoded
export type NotKeptRequests = typeof RequestsApi.NotKept.Encoded
export type Role = Member["role"]
export type Session = typeof MembersApi.Session.Encoded
export type InboundEmail = typeof InboundApi.InboundEmail.Encoded
export type InboundEmailWhole = typeof InboundApi.InboundWhole.Encoded
export type InboundRoute = typeof RoutesApi.RouteRecord.Encoded
export type RouteTrial = typeof RoutesApi.Outcome.Encoded
export type Thread = typeof InboundApi.ThreadRecord.Encoded
export type SandboxMessage = typeof SandboxApi.SandboxMessage.Encoded
export type SandboxMessageWithContent = typeof SandboxApi.MessageWithContent.Encoded
export type SavedView = SavedViewsApi.SavedView
export type Stats = typeof StatsApi.Stats.Encoded
export type StatsRow = typeof StatsApi.StatsRow.Encoded
export type Suppression = typeof SuppressionsApi.SuppressionRecord.Encoded
export type SuppressionBatchAnswer = typeof SuppressionsApi.BatchAnswer.Encoded
export type Delivery = typeof DeliveryApi.Delivery.Encoded
export type DeliveryDetail = typeof DeliveryApi.DeliveryDetail.Encoded
export type ListedTemplate = typeof TemplatesApi.ListedTemplate.Encoded
export type TemplateRecord = typeof TemplatesApi.TemplateRecord.Encoded
export type ListedTemplateVersion = typeof TemplatesApi.ListedVersion.Encoded
export type TemplateVersion = typeof TemplatesApi.VersionRecord.Encoded
export type TemplateValidation = typeof TemplatesApi.Validated.Encoded
export type RenderedTemplate = typeof TemplatesApi.Rendered.Encoded
export type Webhook = typeof WebhooksApi.ListedWebhook.Encoded
export type WebhookWithSecret = typeof WebhooksApi.WithSecret.Encoded

/** How many rows there are: exactly, or more than so many. */
export interface Total {
  readonly count: number
  readonly is_exact: boolean
}

export interface Page<A> {
  readonly object: "list"
  /** Null unless the request asks for it. Only lists of emails have it. */
  readonly total?: Total | null
  readonly has_more: boolean
  readonly next_cursor: string | null
  readonly data: ReadonlyArray<A>
}
