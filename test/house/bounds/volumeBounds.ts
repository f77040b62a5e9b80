import * as Plan from "@waybill/domain/account/Plan"
import * as RateLimit from "@waybill/domain/account/RateLimit"
import { customer, type Group } from "./Bound.ts"

const RATES = "packages/domain/src/account/RateLimit.ts"
const USAGE = "packages/domain/src/email/UsageChange.ts"
const UNSENT = "packages/domain/src/email/UnsentMail.ts"
const PLANS = "packages/domain/src/account/Plan.ts"

export const ofPlans = (value: (terms: Plan.Terms) => number | null): string =>
  Plan.ALL.map((plan) => {
    const number = value(Plan.TERMS[plan])
    return `${Plan.TERMS[plan].name} ${number === null ? "unlimited" : number.toLocaleString("en-US")}`
  }).join(", ")
const MIB = 1024 * 1024
const scheduledOfPlans = Plan.ALL.map(
  (plan) => `${Plan.TERMS[plan].name} ${(Plan.TERMS[plan].scheduled_bytes / MIB).toLocaleString("en-US")} MiB`,
).join(", ")
const rate = (bucket: RateLimit.Bucket): string => RateLimit.PER_MINUTE[bucket].toLocaleString("en-US")
const { logs, other, send } = RateLimit.SESSION_PER_MINUTE
const ofSession = `${send} sends, ${logs} log pages, ${other} others`

/** Bounds of the requests and of the mail of an account. */
export const volumeBounds: Group = {
  title: "Request rates and monthly volume",
  bounds: [
    customer(
      "`POST /v1/email/send` and `POST /v1/email/send/batch` together per key and minute",
      "PER_MINUTE",
      RATES,
      "429 `request_rate`",
      rate("send"),
    ),
    customer(
      "`GET /v1/email/logs` and searches of the sandbox per key and minute",
      "PER_MINUTE",
      RATES,
      "429 `request_rate`",
      rate("logs"),
    ),
    customer("All other requests per key and minute", "PER_MINUTE", RATES, "429 `request_rate`", rate("other")),
    customer("Dashboard requests per user and minute", "SESSION_PER_MINUTE", RATES, "429 `request_rate`", ofSession),
    customer(
      "Accepted recipients per account and UTC month",
      "TERMS",
      PLANS,
      "429 `monthly_quota`",
      ofPlans(({ monthly_emails }) => monthly_emails),
    ),
    customer("Test emails per account and UTC month", "TEST_MONTHLY_EMAILS", USAGE, "429 `monthly_quota`"),
    customer(
      "Content of scheduled mail of a UTC month, until it is sent, and for up to an hour after it is canceled",
      "TERMS",
      PLANS,
      "422 `scheduled_size_exceeded`",
      scheduledOfPlans,
    ),
    customer(
      "Content of scheduled test mail of a UTC month",
      "TEST_SCHEDULED_BYTES",
      UNSENT,
      "422 `scheduled_size_exceeded`",
    ),
  ],
}
