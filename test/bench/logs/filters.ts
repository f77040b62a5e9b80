import * as Address from "@waybill/domain/values/Address"
import type * as DomainName from "@waybill/domain/domain/DomainName"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import type { Query } from "@waybill/store/search/EmailLogFilter"
import { Result } from "effect"
import { apiKeyId, BEGAN_MS, emailId, recipient, STEP_MS } from "./mail.ts"

export type FilterQuery = Omit<Query, "account_id" | "limit">

const address = (text: string) => Result.getOrThrow(Address.parseAddress(text))
const domain = (text: string) => text as DomainName.DomainName

/** Filters of contract §5, alone and combined; `n` selects another message of the account each time. */
export const FILTERS: Readonly<Record<string, (n: number) => FilterQuery>> = {
  newest: () => ({}),
  "after a message": (n) => ({ after: emailId(n) }),
  "before a message": (n) => ({ before: emailId(n) }),
  "created in an hour": (n) => ({
    created_after: Timestamp.fromMillis(BEGAN_MS + n * STEP_MS),
    created_before: Timestamp.fromMillis(BEGAN_MS + n * STEP_MS + Timestamp.HOUR),
  }),
  "to one": (n) => ({ to: address(recipient(n)) }),
  "to nobody": (n) => ({ to: address(`nobody${n}@example.org`) }),
  "status, common": (n) => ({ status: ["delivered"], after: emailId(n) }),
  "status, rare": () => ({ status: ["complained"] }),
  "status, several": (n) => ({ status: ["bounced", "deferred", "complained"], after: emailId(n) }),
  "status, queued": () => ({ status: ["queued"] }),
  "status, scheduled": () => ({ status: ["scheduled"] }),
  "recipient status, rare": () => ({ recipient_status: ["failed"] }),
  "recipient status, several": (n) => ({ recipient_status: ["bounced", "deferred"], after: emailId(n) }),
  "recipient status and status": (n) => ({ recipient_status: ["bounced"], status: ["delivered"], after: emailId(n) }),
  "recipient status and tag": (n) => ({ recipient_status: ["bounced"], tags: ["receipt"], after: emailId(n) }),
  domain: (n) => ({ domain: domain(`d${n % 7}.test`), after: emailId(n) }),
  "from, common": (n) => ({ from: address("hello@acme.test"), after: emailId(n) }),
  "from, rare": () => ({ from: address("old@acme.test") }),
  "tag, common": (n) => ({ tags: ["receipt"], after: emailId(n) }),
  "tag, rare": () => ({ tags: ["rare"] }),
  "subject, common": (n) => ({ subject: "password", after: emailId(n) }),
  "subject, rare": () => ({ subject: "HAYSTACK" }),
  "subject, one": (n) => ({ subject: `order #${n - (n % 5)} has` }),
  "subject, none": (n) => ({ subject: `nowhere ${n}` }),
  "recipient, part": (n) => ({ recipient: recipient(n).slice(0, 6), after: emailId(n) }),
  "recipient, rare part": () => ({ recipient: "ana@rare" }),
  "word, common": (n) => ({ words: ["receipt"], after: emailId(n) }),
  "word, rare": () => ({ words: ["rare"] }),
  "word, none": () => ({ words: ["nowhere"] }),
  "two words": (n) => ({ words: ["haystack", "user"], after: emailId(n) }),
  "key, common": (n) => ({ api_key_id: apiKeyId(0), after: emailId(n) }),
  "key, rare": () => ({ api_key_id: apiKeyId(1) }),
  "key and status": () => ({ api_key_id: apiKeyId(1), status: ["delivered"] }),
  "one message": (n) => ({ id: emailId(n) }),
  "domain and status": (n) => ({ domain: domain("acme.test"), status: ["bounced"], after: emailId(n) }),
  "tag and status": (n) => ({ tags: ["receipt"], status: ["delivered"], after: emailId(n) }),
  "tag and rare status": () => ({ tags: ["spring"], status: ["complained"] }),
  "two tags": (n) => ({ tags: ["receipt", "spring"], after: emailId(n) }),
  "rare and common tag": () => ({ tags: ["receipt", "rare"] }),
  "to one and tag": (n) => ({ to: address(recipient(n)), tags: ["spring"] }),
  "subject and status": (n) => ({ subject: "receipt", status: ["bounced"], after: emailId(n) }),
  "rare subject and tag": () => ({ subject: "needle", tags: ["spring"] }),
}
/** Tags that are both common and never on one message: the one case whose cost is bounded by a page that ends early. */
export const APART: typeof FILTERS = { "two tags that never meet": () => ({ tags: ["spring", "autumn"] }) }
