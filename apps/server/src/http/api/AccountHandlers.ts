import { Api } from "@waybill/api/Api"
import { CurrentKey } from "@waybill/api/middleware/Authorization"
import * as Account from "@waybill/domain/account/Account"
import * as Livemode from "@waybill/domain/account/Livemode"
import * as UnsentMail from "@waybill/domain/email/UnsentMail"
import * as UsageChange from "@waybill/domain/email/UsageChange"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Content from "@waybill/store/content/Content"
import * as Accounts from "@waybill/store/readmodels/Accounts"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { AccountRecord } from "@waybill/api/groups/Account"
import * as ReplyAddresses from "../../links/ReplyAddresses.ts"
import { Instance } from "../../settings/Instance.ts"
import * as NewIds from "../../process/NewIds.ts"

const LIMITS_OF_TEST_MAIL = {
  monthly_emails: UsageChange.TEST_MONTHLY_EMAILS,
  scheduled_bytes: UnsentMail.TEST_SCHEDULED_BYTES,
}

export const AccountHandlers = HttpApiBuilder.group(Api, "account", (handlers) =>
  handlers.handle("get", () =>
    Effect.gen(function* () {
      const { account_id } = yield* CurrentKey
      const found = yield* Accounts.find(Livemode.liveAccountOf(account_id))
      // A key without an account is a bug.
      const { granted, keeping, limits: stored, ...record } = yield* Effect.orDie(Effect.fromOption(found))
      const livemode = Livemode.isLive(account_id)
      const at = yield* NewIds.now
      const month = at.slice(0, "2026-11".length)
      const emails = yield* Accounts.usedRecipients(account_id, month)
      const scheduled_bytes = yield* Accounts.unsentBytes(account_id, month)
      const limits = { ...stored, scheduled_bytes: Account.scheduledBytesOf({ granted, plan: record.plan }) }
      return {
        ...record,
        livemode,
        inbound_domain: ReplyAddresses.ownDomainOf(Livemode.liveAccountOf(account_id), (yield* Instance).inboundDomain),
        content_days: livemode ? record.content_days : Content.TEST_CONTENT_DAYS,
        limits: livemode ? limits : { ...limits, ...LIMITS_OF_TEST_MAIL },
        usage: { month, emails, scheduled_bytes, resets_at: Timestamp.nextMonth(at) },
      } satisfies AccountRecord
    }),
  ),
)
