import * as Address from "@waybill/domain/values/Address"
import type * as DomainName from "@waybill/domain/values/DomainName"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import type { Query } from "@waybill/store/search/EmailLogFilter"
import { Result } from "effect"
import type * as Id from "@waybill/domain/values/Id"
import { apiKeyId, BEGAN_MS, PAIRS_EVERY, recipient, STEP_MS } from "./mail.ts"

export type FilterQuery = Omit<Query, "account_id" | "limit">

const address = (text: string) => Result.getOrThrow(Address.parseAddress(text))
const domain = (text: string) => text as DomainName.DomainName

const orderOf = (n: number): string => String(n - (n % PAIRS_EVERY))

/** Filters of the log, alone and combined; the nth message of the account, `after`, is another one each time. */
export const FILTERS: Readonly<Record<string, (n: number, after: Id.EmailId) => FilterQuery>> = {
  newest: () => ({}),
  "after a message": (n, after) => ({ after }),
  "before a message": (n, after) => ({ before: after }),
  "created in an hour": (n) => ({
    created_after: Timestamp.fromMillis(BEGAN_MS + n * STEP_MS),
    created_before: Timestamp.fromMillis(BEGAN_MS + n * STEP_MS + Timestamp.HOUR),
  }),
  "to one": (n) => ({ to: address(recipient(n)) }),
  "to nobody": (n) => ({ to: address(`nobody${n}@example.org`) }),
  "status, common": (n, after) => ({ status: ["delivered"], after }),
  "status, rare": () => ({ status: ["complained"] }),
  "status, several": (n, after) => ({ status: ["bounced", "deferred", "complained"], after }),
  "status, queued": () => ({ status: ["queued"] }),
  "status, scheduled": () => ({ status: ["scheduled"] }),
  "recipient status, rare": () => ({ recipient_status: ["failed"] }),
  "recipient status, several": (n, after) => ({ recipient_status: ["bounced", "deferred"], after }),
  "recipient status and status": (n, after) => ({ recipient_status: ["bounced"], status: ["delivered"], after }),
  "recipient status and tag": (n, after) => ({ recipient_status: ["bounced"], tag: ["receipt"], after }),
  "reply code, common": (n, after) => ({ code: ["550"], after }),
  "reply code, rare": () => ({ code: ["552"] }),
  "reply code, class": (n, after) => ({ code: ["4xx", "5xx"], after }),
  "reply code, none": () => ({ code: ["421"] }),
  "reply code and tag": (n, after) => ({ code: ["5xx"], tag: ["receipt"], after }),
  domain: (n, after) => ({ domain: domain(`d${n % 7}.test`), after }),
  "from, common": (n, after) => ({ from: address("hello@acme.test"), after }),
  "from, rare": () => ({ from: address("old@acme.test") }),
  "tag, common": (n, after) => ({ tag: ["receipt"], after }),
  "tag, rare": () => ({ tag: ["rare"] }),
  "metadata, one": (n) => ({ metadata: { order: orderOf(n) } }),
  "metadata, common": (n, after) => ({ metadata: { plan: "pro" }, after }),
  "metadata, none": () => ({ metadata: { order: "x" } }),
  "two pairs": (n) => ({ metadata: { order: orderOf(n), plan: "free" } }),
  "metadata and tag": (n, after) => ({ metadata: { plan: "free" }, tag: ["receipt"], after }),
  "subject, common": (n, after) => ({ subject: "password", after }),
  "subject, rare": () => ({ subject: "HAYSTACK" }),
  "subject, one": (n) => ({ subject: `order #${n - (n % 5)} has` }),
  "subject, none": (n) => ({ subject: `nowhere ${n}` }),
  "recipient, part": (n, after) => ({ recipient: recipient(n).slice(0, 6), after }),
  "recipient, rare part": () => ({ recipient: "ana.rare" }),
  "word, common": (n, after) => ({ words: ["receipt"], after }),
  "word, rare": () => ({ words: ["rare"] }),
  "word, sender": () => ({ words: ["old@acme"] }),
  "word, sender of most": (n, after) => ({ words: ["acme.test"], after }),
  "word, id": (n, after) => ({ words: [after] }),
  "word, begin of an id": (n, after) => ({ words: [after.slice(0, 12)] }),
  "word, value of a pair": (n) => ({ words: [orderOf(n)] }),
  "provider, rare": () => ({ provider: ["proton"] }),
  "provider, none": () => ({ provider: ["yandex"] }),
  "word, none": () => ({ words: ["nowhere"] }),
  "two words": (n, after) => ({ words: ["haystack", "user"], after }),
  "key, common": (n, after) => ({ api_key_id: apiKeyId(0), after }),
  "key, rare": () => ({ api_key_id: apiKeyId(1) }),
  "key and status": () => ({ api_key_id: apiKeyId(1), status: ["delivered"] }),
  "one message": (n, after) => ({ message_id: after }),
  "domain and status": (n, after) => ({ domain: domain("acme.test"), status: ["bounced"], after }),
  "tag and status": (n, after) => ({ tag: ["receipt"], status: ["delivered"], after }),
  "tag and rare status": () => ({ tag: ["spring"], status: ["complained"] }),
  "two tags": (n, after) => ({ tag: ["receipt", "spring"], after }),
  "rare and common tag": () => ({ tag: ["receipt", "rare"] }),
  "to one and tag": (n) => ({ to: address(recipient(n)), tag: ["spring"] }),
  "subject and status": (n, after) => ({ subject: "receipt", status: ["bounced"], after }),
  "rare subject and tag": () => ({ subject: "needle", tag: ["spring"] }),
}
/** Tags that are both common and never on one message: the one case whose cost is bounded by a page that ends early. */
export const APART: typeof FILTERS = { "two tags that never meet": () => ({ tag: ["spring", "autumn"] }) }
