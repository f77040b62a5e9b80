import type { Email } from "../../api/Records.ts"
import { StatusBadge } from "../../ui/display/Badge.tsx"
import { useNow } from "../../ui/display/Time.tsx"
import { UntrustedText } from "../../ui/display/UntrustedText.tsx"
import { shownStatus } from "@waybill/domain/search/shownStatus"
import { outcomesOf, reachedOf, reasonOf } from "../search/EmailFilters.ts"
import * as Hits from "../search/Hits.ts"
import { HiddenHits, Marked } from "../search/Marked.tsx"
import { SentTime } from "./SentTime.tsx"

interface RowProps {
  readonly email: Email
  readonly keyNames: ReadonlyMap<string, string>
  readonly templateNames: ReadonlyMap<string, string>
  readonly parts: Hits.Parts
}

/** Content of the list's row of an email. */
export const EmailRow = ({ email, keyNames, parts, templateNames }: RowProps) => {
  const now = useNow()
  const status = shownStatus(email, now)
  const reason = reasonOf(email)
  const reached = reachedOf(email)
  // One that was searched for, or the first; the subject needs the room of the others.
  const tag = email.tags.find((each) => Hits.piecesOf(each, parts.tag).some(({ isHit }) => isHit)) ?? email.tags[0]
  const others = email.recipients.length < 2 ? undefined : `+${email.recipients.length - 1}`
  const recipient = <Marked text={Hits.firstRecipient(email)} parts={parts.recipient} />
  return (
    <>
      <span className="order-3 flex flex-col items-start gap-0.5 sm:order-none sm:min-w-0">
        <StatusBadge status={status} />
        {reached === undefined ? undefined : (
          <span
            title={outcomesOf(email).join(" · ")}
            className="hidden max-w-full truncate text-xs text-ink-3 sm:block"
          >
            {reached}
          </span>
        )}
      </span>
      <span className="order-1 col-span-2 flex min-w-0 items-center gap-1.5 sm:order-none sm:col-auto">
        <span className="truncate text-ink">{recipient}</span>
        <span className="shrink-0 rounded-md bg-hover px-1 text-xs text-ink-2 empty:hidden">{others}</span>
      </span>
      <span className="contents min-w-0 sm:block">
        <span className="order-4 col-span-2 flex min-w-0 items-center gap-2">
          <span className="min-w-0 truncate text-ink-2 max-sm:text-xs">
            {email.subject === "" ? "No subject" : <Marked text={email.subject} parts={parts.subject} />}
          </span>
          {email.template === null ? undefined : (
            <span
              title="Template, version and language"
              className="hidden max-w-48 min-w-16 shrink-[9] truncate rounded-md bg-hover px-1.5 text-xs text-ink-2 xl:inline"
            >
              <UntrustedText text={templateNames.get(email.template.id) ?? "Template"} /> v{email.template.version}
              {email.template.locale === null ? "" : ` ${email.template.locale}`}
            </span>
          )}
          {tag === undefined ? undefined : (
            <span
              title={email.tags.join(", ")}
              className="hidden max-w-28 shrink-0 truncate rounded-md border border-line px-1.5 text-xs text-ink-3 xl:inline"
            >
              <Marked text={tag} parts={parts.tag} />
              {email.tags.length > 1 ? ` +${email.tags.length - 1}` : undefined}
            </span>
          )}
        </span>
        <span className="order-last col-span-full min-w-0 empty:hidden sm:order-none">
          {reason === undefined || Hits.hiddenOf(email, parts).length > 0 ? (
            <HiddenHits email={email} parts={parts} tagsAreShown />
          ) : (
            <UntrustedText className="block truncate text-xs text-ink-3" title={reason} text={reason} />
          )}
        </span>
      </span>
      {keyNames.size > 0 ? (
        <span className="hidden min-w-0 truncate text-ink-3 xl:block">
          {email.api_key_id === null ? (
            "Dashboard"
          ) : (
            <UntrustedText text={keyNames.get(email.api_key_id) ?? "API key"} />
          )}
        </span>
      ) : undefined}
      <span className="tabular order-2 text-right text-xs text-ink-3 sm:order-none">
        <SentTime email={email} status={status} />
      </span>
    </>
  )
}
