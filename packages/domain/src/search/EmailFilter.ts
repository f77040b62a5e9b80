import type * as EmailStatus from "../email/EmailStatus.ts"
import type { Metadata } from "../email/Labels.ts"
import type { Address } from "../values/Address.ts"
import type { DomainName } from "../values/DomainName.ts"
import type { ApiKeyId, EmailId, TemplateId } from "../values/Id.ts"
import type { Timestamp } from "../values/Timestamp.ts"
import type { MailboxProvider } from "./MailboxProvider.ts"

// Without an import of a library, because browsers load it too.

/** The kinds of values that filters have, and what a query holds of each. */
export interface Values {
  readonly address: Address
  /** Part of an address, as `RecipientPart` reads it. */
  readonly part: string
  readonly text: string
  readonly tags: ReadonlyArray<string>
  readonly pairs: Metadata
  readonly domain: DomainName
  readonly statuses: ReadonlyArray<EmailStatus.Status | "scheduled">
  readonly recipientStatuses: ReadonlyArray<EmailStatus.Status>
  readonly codes: ReadonlyArray<string>
  readonly providers: ReadonlyArray<MailboxProvider>
  readonly key: ApiKeyId
  readonly template: TemplateId
  readonly time: Timestamp
  /** Time of mail that waits for it. */
  readonly due: Timestamp
  readonly email: EmailId
}
export type Kind = keyof Values

interface Declared {
  readonly kind: Kind
  /**
   * Words before the colon in a search. The first is the one that is written, and others are read too. Of filters with the
   * same word, the first that the value fits is meant.
   */
  readonly words: readonly [string, ...ReadonlyArray<string>]
  /** Name for people. */
  readonly name: string
  /** Value to type after the word. */
  readonly expected: string
  /** Description of the API's parameter, after that of its kind. */
  readonly description: string
  /** Name and description of the option of `waybill emails list`; without one, only the search of the command takes it. */
  readonly option?: readonly [name: string, description: string]
}

/**
 * The filters of the email log by the parameters of the API. All that takes filters follows from these: the API and its clients,
 * searches, the options of `waybill emails list` and the menu of the dashboard. The store adds how each one is searched.
 */
export const ALL = {
  from: {
    kind: "address",
    words: ["from"],
    name: "From",
    expected: "an address or a domain",
    description: "The sender",
    option: ["from", "Only from this address, or from a domain such as @acme.com"],
  },
  to: {
    kind: "address",
    words: ["to", "recipient"],
    name: "To",
    expected: "an address or a part of one",
    description: "A recipient: to, cc or bcc",
    option: ["to", "Only to this address, or to a part of one such as @gmail.com"],
  },
  recipient: {
    kind: "part",
    words: ["to"],
    name: "To contains",
    expected: "an address or a part of one",
    description:
      "Part of the address of a recipient, in any case. `^` before it means where a word of the address begins, and `$` after it where one ends: `^ana` finds ana.silva@ and not tanaka@",
  },
  subject: {
    kind: "text",
    words: ["subject"],
    name: "Subject contains",
    expected: "a part of the subject",
    description: "Part of the subject, in any case",
    option: ["subject", "Only with this part of the subject"],
  },
  tag: {
    kind: "tags",
    words: ["tag"],
    name: "Tag",
    expected: "a tag",
    description: "Emails with all of these tags",
    option: ["tag", "Only with this tag"],
  },
  metadata: {
    kind: "pairs",
    words: ["metadata"],
    name: "Metadata",
    expected: "a name and its value, such as order=7041,",
    description: "Emails with all of these pairs: `metadata.order=7041`, or `metadata[order]=7041`",
    option: ["metadata", "Only with this metadata, `name=value`"],
  },
  domain: {
    kind: "domain",
    words: ["domain", "from"],
    name: "From domain",
    expected: "a domain",
    description: "The sending domain",
    option: ["domain", "Only from this domain"],
  },
  status: {
    kind: "statuses",
    words: ["is", "status"],
    name: "Status",
    expected: "a status, such as bounced",
    description: "`scheduled` is queued with `scheduled_at` in the future",
    option: ["status", "Only this status"],
  },
  recipient_status: {
    kind: "recipientStatuses",
    words: ["anyone"],
    name: "Any recipient",
    expected: "a status, such as bounced",
    description:
      "Emails match if any recipient has one of them, whatever the status of the email. With `to`, `recipient`, `provider` or `code`, the same recipient has to match",
  },
  code: {
    kind: "codes",
    words: ["code"],
    name: "Reply code",
    expected: "a reply code, such as 550 or 5xx",
    description:
      "Emails match if a recipient is bounced, failed or deferred and the last reply about it had one of them. With `to`, `recipient` or `provider`, the same recipient has to match",
    option: ["code", "Only refused with one of these SMTP reply codes, such as 550,4xx"],
  },
  provider: {
    kind: "providers",
    words: ["provider"],
    name: "Recipients at",
    expected: "a provider of mailboxes, such as gmail or microsoft",
    description:
      "Emails match if a recipient has a mailbox at one of these providers, by all of its domains: outlook is also hotmail.com and live.com",
    option: ["provider", "Only to mailboxes at one of these providers, such as gmail,outlook"],
  },
  api_key_id: {
    kind: "key",
    words: ["key"],
    name: "API key",
    expected: "the name of an API key",
    description: "The API key that sent it",
  },
  template: {
    kind: "template",
    words: ["template"],
    name: "Template",
    expected: "the alias or the id of a template",
    description: "The template that it was made of",
  },
  created_after: {
    kind: "time",
    words: ["since", "after"],
    name: "Since",
    expected: "a date, such as 2026-11-30, today or 7d",
    description: "Emails accepted at or after this time",
    option: ["since", "Only emails accepted at or after"],
  },
  created_before: {
    kind: "time",
    words: ["until", "before"],
    name: "Until",
    expected: "a date, such as 2026-11-30, today or 7d",
    description: "Emails accepted before this time",
    option: ["until", "Only emails accepted before"],
  },
  scheduled_after: {
    kind: "due",
    words: ["scheduled"],
    name: "Scheduled",
    expected: "a day, such as tomorrow or 2026-12-01",
    description: "Emails that wait for their `scheduled_at`, and have it at or after this time",
  },
  scheduled_before: {
    kind: "due",
    words: ["scheduled"],
    name: "Scheduled",
    expected: "a day, such as tomorrow or 2026-12-01",
    description: "Emails that wait for their `scheduled_at`, and have it before this time",
  },
  message_id: {
    kind: "email",
    words: ["id"],
    name: "Email id",
    expected: "the id or the Message-ID of an email",
    description: "The `Message-ID` header of an email, with or without angle brackets; or its id",
  },
} as const satisfies Readonly<Record<string, Declared>>

/** Tags, and pairs of metadata, of one search. */
export const MAX_TAGS = 5
export const MAX_PAIRS = 5

type Filters = typeof ALL
export type Name = keyof Filters
export type ValueOf<N extends Name> = Values[Filters[N]["kind"]]
/** The values of some filters. */
export type Query = { readonly [N in Name]?: ValueOf<N> }

/** Words of a search before a colon, as they are written. */
export type Field = Filters[Name]["words"][0]

const isName = (name: string): name is Name => Object.hasOwn(ALL, name)
export const NAMES: ReadonlyArray<Name> = Object.keys(ALL).filter(isName)

/** Returns the declaration of a filter. */
export const of = (name: Name): Declared => ALL[name]

export const FIELDS: ReadonlyArray<Field> = [...new Set(NAMES.map((name) => ALL[name].words[0]))]

/** Returns the filters with a word of a search, the one that is probably meant first. */
export const withWord = (word: string): ReadonlyArray<Name> => NAMES.filter((name) => of(name).words.includes(word))

/** Returns the field that a word means. */
export const fieldOf = (word: string): Field | undefined => {
  const [name] = withWord(word)
  return FIELDS.find((field) => field === word) ?? (name && ALL[name].words[0])
}
