import { Effect } from "effect"
import * as RequestCommit from "../../accept/RequestCommit.ts"
import type * as PostmarkMessage from "./PostmarkMessage.ts"

/** Postmark's words, from which its clients read the addresses. */
export const INACTIVE =
  "Inactive recipients are ones that have generated a hard bounce, a spam complaint, or a manual suppression."

type Recipients = Pick<PostmarkMessage.Message, "Bcc" | "Cc" | "To">

/** Postmark's answer for an email. */
export const of = ({ Bcc, Cc, To }: Recipients, id: string, created_at: string, Message: string) => ({
  To: To ?? "",
  ...(Cc ? { Cc } : {}),
  ...(Bcc ? { Bcc } : {}),
  SubmittedAt: created_at,
  MessageID: id,
  ErrorCode: 0,
  Message,
})

/**
 * Returns the answer for an email that this request has accepted. It names the recipients that are suppressed; the answer to a
 * repeated request does not.
 */
export const answer = (recipients: Recipients, id: string, created_at: string) =>
  Effect.map(RequestCommit.TranslatedRequest, (translated) => {
    const addresses = translated?.suppressed.get(id) ?? []
    const message =
      addresses.length === 0
        ? "OK"
        : `Message OK, but will not deliver to these inactive addresses: ${addresses.join(", ")}. ${INACTIVE}`
    return of(recipients, id, created_at, message)
  })
