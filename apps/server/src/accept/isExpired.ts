import * as Livemode from "@waybill/domain/account/Livemode"
import type * as EmailState from "@waybill/domain/email/EmailState"
import type { AccountId } from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Accounts from "@waybill/store/readmodels/Accounts"
import * as TestClocks from "@waybill/store/readmodels/TestClocks"
import { Effect, Option } from "effect"

const DAY_CHARS = "2026-11-21".length

/**
 * Whether the content of a message has expired on the test clock that it lives on: the account would keep it no longer. On
 * real time, expired content is not found.
 */
export const isExpired = Effect.fnUntraced(function* (account_id: AccountId, { accepted }: EmailState.AcceptedEmail) {
  const { created_at, test_clock } = accepted
  if (test_clock === undefined) return false
  const clock = (yield* TestClocks.timesOf([{ account_id, clock: test_clock }])).get(test_clock)
  const account = yield* Accounts.find(Livemode.liveAccountOf(account_id))
  if (clock === undefined || Option.isNone(account)) return false
  const last = Timestamp.plus(created_at, account.value.content_days * Timestamp.DAY)
  return clock.now.slice(0, DAY_CHARS) > last.slice(0, DAY_CHARS)
})
