import type * as Id from "@waybill/domain/values/Id"
import * as Uuid from "@waybill/domain/values/Uuid"

/** Kinds of ids by the segment of a path that they follow, in our own API and in those for which we stand. */
const KINDS: ReadonlyMap<string, keyof typeof Id.PREFIXES> = new Map([
  ["api-keys", "ApiKeyId"],
  ["clicks", "EmailId"],
  ["deliveries", "WebhookDeliveryId"],
  ["domains", "DomainId"],
  ["email", "EmailId"],
  ["emails", "EmailId"],
  ["events", "WebhookDeliveryId"],
  ["inbound", "InboundId"],
  ["logs", "EmailId"],
  ["messages", "EmailId"],
  ["opens", "EmailId"],
  ["outbound", "EmailId"],
  ["receiving", "InboundId"],
  ["suppressions", "SuppressionId"],
  ["templates", "TemplateId"],
  ["webhooks", "WebhookId"],
])

const SEGMENTS = new RegExp(`/([a-z-]+)/(${Uuid.PATTERN})(?=/|\\?|$)`, "giu")

/** Puts ids of a path that are spelled as UUIDs in our own spelling. */
export const inPath = (target: string): string =>
  target.replaceAll(SEGMENTS, (whole, collection: string, uuid: string) => {
    const kind = KINDS.get(collection)
    return kind === undefined ? whole : `/${collection}/${Uuid.idOf(kind, uuid) ?? uuid}`
  })

/** Puts the ids of a query that pages through a list, or names an email, in our own spelling. */
export const inQuery = (path: string, query: URLSearchParams): URLSearchParams =>
  new URLSearchParams(
    [...query].map(([name, value]) => {
      const kind =
        name === "after" || name === "before"
          ? KINDS.get(path.slice(path.lastIndexOf("/") + 1))
          : name.toLowerCase() === "messageid"
            ? "EmailId"
            : undefined
      return [name, kind === undefined ? value : (Uuid.idOf(kind, value) ?? value)]
    }),
  )

/** Fields that hold an id. */
const NAMES = /^(?:id|MessageID|\w+_id)$/u
/** Fields whose names and texts are the customer's, which may look like ids. */
const FOREIGN: ReadonlySet<string> = new Set(["Metadata", "headers", "tags"])

/** Returns a value whose fields with an id of ours have it as a UUID. */
export const spelled = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(spelled)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      typeof each === "string"
        ? NAMES.test(name)
          ? (Uuid.of(each) ?? each)
          : each
        : FOREIGN.has(name)
          ? each
          : spelled(each),
    ]),
  )
}
