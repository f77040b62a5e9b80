import type { Account } from "../api/Records.ts"
import { cx } from "../ui/display/cx.ts"

const number = new Intl.NumberFormat()
/** Share of the limit from which the bar is a warning. */
const WARNING_SHARE = 0.8

/** Usage of the month: of the plan, or in test mode of test mail. */
export const UsageMeter = ({ account: { limits, livemode, plan, usage } }: { readonly account: Account }) => {
  const name = livemode ? `${plan} plan` : "Test mode"
  const used = usage.emails
  const isOne = (limits.monthly_emails ?? used) === 1
  const unit = `${livemode ? "recipient" : "test email"}${isOne ? "" : "s"}`
  const limit = limits.monthly_emails
  const share = limit === null ? 0 : Math.min(1, used / limit)
  return (
    <div>
      <p className="flex items-baseline justify-between gap-3 text-sm">
        <span className="font-medium first-letter:uppercase">{name}</span>
        <span className="tabular text-ink-2">
          {number.format(used)} {limit === null ? `${unit} (unlimited)` : `of ${number.format(limit)} ${unit}`}
        </span>
      </p>
      {limit === null ? undefined : (
        <div
          role="meter"
          aria-label={name}
          aria-valuenow={used}
          aria-valuemin={0}
          aria-valuemax={limit}
          className="mt-2 h-1.5 overflow-hidden rounded-full bg-hover"
        >
          <div
            className={cx(
              "h-full rounded-full",
              share >= 1 ? "bg-bad" : share >= WARNING_SHARE ? "bg-warn" : "bg-solid",
            )}
            style={{ width: `${Math.max(share * 100, used > 0 ? 1.5 : 0)}%` }}
          />
        </div>
      )}
    </div>
  )
}
