import type { Domain, EmailLogWithContent, EmailRecipient, Suppression } from "@waybill/client/Waybill"
import * as DeliveryExplanation from "@waybill/domain/explanation/DeliveryExplanation"
import { clipped } from "./ToolAnswer.ts"
import { domainText } from "./domainText.ts"

/** Facts about an email from which its diagnosis follows. */
export interface Evidence {
  readonly email: EmailLogWithContent
  /** The sending domain, if it exists and the key may read it. */
  readonly domain: Domain | undefined
  /** Current suppressions by address; `undefined` if the address is not suppressed. Addresses that were not looked up are absent. */
  readonly suppressions: ReadonlyMap<string, Suppression | undefined>
  /** ISO 8601 */
  readonly now: string
}

export interface RecipientDiagnosis {
  readonly status: EmailRecipient["status"]
  readonly explanation: string
  readonly next_step: string
  readonly untrusted: {
    readonly address: string
    readonly server?: string | undefined
    readonly response?: string
  }
}

/** Explains in words what happened to each recipient, those without delivery first. */
export const diagnose = (evidence: Evidence): ReadonlyArray<RecipientDiagnosis> =>
  evidence.email.recipients
    .map((recipient): RecipientDiagnosis => {
      const { explanation, next_step } = DeliveryExplanation.explain(recipient, { ...evidence, showTime: (iso) => iso })
      const response = recipient.smtp?.response ?? null
      return {
        status: recipient.status,
        explanation,
        next_step,
        untrusted: {
          address: clipped(recipient.address),
          ...(response === null ? {} : { server: recipient.smtp?.mx ?? undefined, response: clipped(response) }),
        },
      }
    })
    .toSorted((one, other) => Number(isDelivered(one)) - Number(isDelivered(other)))

/** Returns the diagnosis of the whole email in a few sentences. */
export const summarize = ({ domain, email }: Evidence, recipients: ReadonlyArray<RecipientDiagnosis>): string => {
  const missing = recipients.filter((recipient) => !isDelivered(recipient))
  const of = `${recipients.length} recipient${recipients.length === 1 ? "" : "s"}`
  const counts = Object.entries(email.recipient_counts)
    .map(([status, count]) => `${count} ${status}`)
    .join(", ")
  const first =
    missing.length === 0
      ? `Email ${email.id} was delivered to all of its ${of}.`
      : `Email ${email.id} is ${email.status}; ${missing.length} of ${of} did not receive it (${counts}).`
  if (missing.length === 0) return first
  return [first, missing.length === 1 ? missing[0]?.explanation : undefined, domainNote(domain, email)]
    .filter((part) => part !== undefined)
    .join(" ")
}

const domainNote = (domain: Domain | undefined, email: EmailLogWithContent): string | undefined =>
  domain === undefined
    ? `The domain ${email.domain} could not be read: it was removed, or this key may not read it.`
    : domain.status === "verified" && domain.records.every(({ status }) => status === "verified")
      ? undefined
      : domainText(domain)

const isDelivered = ({ status }: { readonly status: EmailRecipient["status"] }) =>
  status === "delivered" || status === "complained"
