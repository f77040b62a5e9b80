import * as Livemode from "@waybill/domain/account/Livemode"
import * as UsageChange from "@waybill/domain/email/UsageChange"
import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import type { View } from "@waybill/store/commit/Commit"
import type { Needs } from "@waybill/store/log/Fact"
import * as Draft from "./Draft.ts"

/**
 * Returns whether the recipients of a canceled message are given back to the volume of their month, up to as many as the
 * volume has, and the facts that the decision needs.
 */
export const of = (account_id: Id.AccountId, id: Id.EmailId, now: number) => {
  const month = monthOfRecent(id, now)
  const needs: Needs = month === undefined ? {} : { month, unsent: month }
  const isRefunded = ({ facts }: View): boolean => {
    const account = facts.account(account_id)
    const limit = Livemode.isLive(account_id) ? account?.limits.monthly_emails : UsageChange.TEST_MONTHLY_EMAILS
    return month === undefined || typeof limit !== "number" || facts.unsent(account_id, month).refunded < limit
  }
  return { needs, isRefunded }
}

/**
 * Returns the month in which a message was accepted by its id, which a client may make up: undefined if it is none of the last
 * ones. Mail of older months has been postponed again and again.
 */
const monthOfRecent = (id: Id.EmailId, now: number): string | undefined => {
  const millis = Id.millisOf(id)
  return millis <= now && now - millis < RECENT_MS ? Draft.monthOf(Timestamp.fromMillis(millis)) : undefined
}
const RECENT_MS = 60 * Timestamp.DAY
