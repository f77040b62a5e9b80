import * as Explanation from "@waybill/domain/explanation/DeliveryExplanation"
import { useQueries } from "@tanstack/react-query"
import * as Queries from "../api/Queries.ts"
import type { EmailWithContent, Recipient } from "../api/Records.ts"
import { StatusBadge } from "../ui/display/Badge.tsx"
import { formatDateTime, useNow } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { Suppressed } from "./Suppressed.tsx"
import { Panel } from "../ui/layout/Screen.tsx"

/** Recipients that are explained; the panel of recipients has the others. */
const MAX_EXPLAINED = 5

const isReached = ({ status }: Recipient): boolean => status === "delivered"

/** Says what happened to an email, why, and what to do, for the recipients that it did not reach first. */
export const DeliveryExplanation = ({ email }: { readonly email: EmailWithContent }) => {
  const now = useNow()
  const ordered = email.recipients.toSorted((one, other) => Number(isReached(one)) - Number(isReached(other)))
  // One of the recipients that it reached stands for all.
  const shown = [...ordered.filter((each) => !isReached(each)), ...ordered.filter(isReached).slice(0, 1)].slice(
    0,
    MAX_EXPLAINED,
  )
  const lookedUp = shown.filter(({ status }) => Explanation.LOOKED_UP.has(status)).map(({ address }) => address)
  const found = useQueries({ queries: lookedUp.map((address) => Queries.suppressionOf(address)) })
  const suppressions = new Map(
    lookedUp.flatMap((address, nth) => {
      const current = found[nth]?.data
      return current === undefined ? [] : [[address, current ?? undefined] as const]
    }),
  )
  const evidence = { email, suppressions, now: new Date(now).toISOString(), showTime: formatDateTime }
  return (
    <Panel title="What happened">
      <ul className="divide-y divide-line">
        {shown.map((recipient) => {
          const { explanation, next_step } = Explanation.explain(recipient, evidence)
          const others = isReached(recipient) ? ordered.filter(isReached).length - 1 : 0
          const suppression = suppressions.get(recipient.address)
          return (
            <li key={`${recipient.kind} ${recipient.address}`} className="flex flex-col gap-1.5 px-4 py-3 text-sm">
              {email.recipients.length === 1 ? undefined : (
                <p className="flex min-w-0 items-center gap-2">
                  <StatusBadge status={recipient.status} />
                  <UntrustedText className="min-w-0 truncate font-medium" text={recipient.address} />
                  {others > 0 ? <span className="shrink-0 text-ink-3">and {others} more</span> : undefined}
                </p>
              )}
              <p className="break-words">{explanation}</p>
              {next_step === "" ? undefined : <p className="text-ink-2">{next_step}</p>}
              {suppression === undefined ? undefined : <Suppressed email={email} suppression={suppression} />}
            </li>
          )
        })}
      </ul>
    </Panel>
  )
}
