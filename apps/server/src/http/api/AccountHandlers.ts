import { Api } from "@waybill/api/Api"
import { CurrentKey } from "@waybill/api/Authorization"
import * as Livemode from "@waybill/domain/account/Livemode"
import * as UsageChange from "@waybill/domain/account/UsageChange"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Accounts from "@waybill/store/readmodels/Accounts"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as NewIds from "../../operate/NewIds.ts"
import type { AccountRecord } from "@waybill/api/groups/Account"
import * as Records from "./Records.ts"

export const AccountHandlers = HttpApiBuilder.group(Api, "account", (handlers) =>
  handlers.handle("get", () =>
    Effect.gen(function* () {
      const { account_id } = yield* CurrentKey
      // A key without an account is a bug.
      const found = yield* Accounts.find(Livemode.liveAccountOf(account_id))
      const { granted, keeping, limits, ...record } = yield* Effect.orDie(Effect.fromOption(found))
      const livemode = Livemode.isLive(account_id)
      const at = yield* NewIds.now
      const month = at.slice(0, "2026-11".length)
      const emails = yield* Accounts.usedRecipients(account_id, month)
      return Records.asRecord<AccountRecord>({
        ...record,
        livemode,
        limits: livemode ? limits : { ...limits, monthly_emails: UsageChange.TEST_MONTHLY_EMAILS },
        usage: { month, emails, resets_at: Timestamp.nextMonth(at) },
      })
    }),
  ),
)
