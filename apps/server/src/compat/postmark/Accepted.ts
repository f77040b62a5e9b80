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

/** Returns the answer for an email that this request has accepted, which names the recipients that are suppressed. */
export const answer = (recipients: Recipients, id: string, created_at: string, suppressed: ReadonlyArray<string>) => {
  const message =
    suppressed.length === 0
      ? "OK"
      : `Message OK, but will not deliver to these inactive addresses: ${suppressed.join(", ")}. ${INACTIVE}`
  return of(recipients, id, created_at, message)
}
