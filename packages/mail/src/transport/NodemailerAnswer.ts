import * as ProviderError from "../provider/ProviderError.ts"
import * as ProviderRules from "../provider/ProviderRules.ts"
import type { RecipientOutcome } from "./Transport.ts"
import * as Transport from "./Transport.ts"

export const ACCEPTED = "accepted"

/** Reads what a transport gave, which may be anything. */
export const attempt = <A>(read: () => A, otherwise: () => A): A => {
  try {
    return read()
  } catch {
    return otherwise()
  }
}

export const readError = (error: unknown): ProviderError.ProviderError =>
  attempt(
    () => ProviderError.read(error),
    () => ({ _tag: "Rule", rule: ProviderRules.FALLBACK, text: "the transport failed", retry_after_ms: null }),
  )

/** Result of a transport. Only those that speak SMTP tell recipients apart. */
interface Answer {
  readonly rejected?: unknown
  readonly response?: unknown
  readonly messageId?: unknown
}

export const outcomeOf = (
  recipient: string,
  answer: unknown,
  ownError: unknown,
  hop: Transport.Hop,
  isShared: boolean,
): RecipientOutcome => {
  const { messageId, rejected, response } = (answer ?? {}) as Answer
  if (ownError !== undefined) return refusal(recipient, hop, readError(ownError), false)
  if (Array.isArray(rejected) && rejected.some((each) => addressOf(each) === recipient)) {
    return refusal(
      recipient,
      hop,
      { _tag: "Rule", rule: REJECTED, text: String(response ?? ""), retry_after_ms: null },
      isShared,
    )
  }
  const text = String(response ?? messageId ?? ACCEPTED)
  const code = /^2\d\d\b/u.exec(text)?.[0]
  return code === undefined
    ? Transport.handedOver(recipient, hop, text)
    : Transport.accepted(recipient, hop, ProviderError.replyOf(Number(code), text, "end_of_data"))
}

/** A recipient that the transport lists as rejected, without an error of its own. */
const REJECTED: ProviderRules.Rule = { id: "rejected", action: "bounce", category: "policy" }

/** Returns the errors of single recipients, which nodemailer's SMTP transports list. */
export const refusalsIn = (value: unknown): ReadonlyArray<readonly [recipient: string, error: unknown]> =>
  attempt(
    () => {
      const errors = ((value ?? {}) as { readonly rejectedErrors?: unknown }).rejectedErrors
      if (!Array.isArray(errors)) return []
      return errors.flatMap((error: unknown) =>
        attempt(
          (): ReadonlyArray<readonly [recipient: string, error: unknown]> => [
            [addressOf((error as { readonly recipient?: unknown }).recipient), error],
          ],
          () => [],
        ),
      )
    },
    () => [],
  )

const addressOf = (value: unknown): string =>
  attempt(
    () => (typeof value === "string" ? value : String((value as { readonly address?: unknown } | null)?.address ?? "")),
    () => "",
  )

/** Sentence for the customer in place of an error about the operator's account, whose names and keys the text may show. */
export const ACCOUNT_REFUSED = "the provider refuses the account of this service; its operator must mend that"

export const isOfAccount = (error: ProviderError.ProviderError): boolean =>
  error._tag === "Reply" ? error.reply.stage === "auth" : error.rule.category === "auth"

export const textOf = (error: ProviderError.ProviderError): string =>
  error._tag === "Reply" ? error.reply.text : error.text

export const refusal = (
  recipient: string,
  hop: Transport.Hop,
  error: ProviderError.ProviderError,
  isShared: boolean,
): RecipientOutcome => {
  const text = isOfAccount(error) ? ACCOUNT_REFUSED : textOf(error)
  if (error._tag === "Reply") {
    const outcome = Transport.answered(recipient, hop, { _tag: "Refused", reply: error.reply }, isShared)
    return { ...outcome, response: Transport.shortened(text) }
  }
  const { rule } = error
  switch (rule.action) {
    case "bounce":
      return Transport.bounced(recipient, hop, rule.category, text)
    case "fail":
      return Transport.failed(recipient, rule.category, text)
    default:
      return { ...Transport.deferred(recipient, hop, rule.category, text), retry_after_ms: error.retry_after_ms }
  }
}
