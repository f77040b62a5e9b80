import * as EmailStatus from "@waybill/domain/email/EmailStatus"
import * as Labels from "@waybill/domain/email/Labels"
import * as EmailFilter from "@waybill/domain/search/EmailFilter"
import * as MailboxProvider from "@waybill/domain/search/MailboxProvider"
import * as ReplyCode from "@waybill/domain/search/ReplyCode"
import * as Address from "@waybill/domain/values/Address"
import * as DomainName from "@waybill/domain/values/DomainName"
import * as Id from "@waybill/domain/values/Id"
import * as Text from "@waybill/domain/values/Text"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect, Option, Result, Schema, SchemaIssue, SchemaTransformation } from "effect"
import * as Checks from "./Checks.ts"

/** Maximum length of a text to search for, and maximum number of its words. */
export const MAX_QUERY_CHARS = 200
export const MAX_QUERY_WORDS = 5

/** A word, or several in double quotes. */
const WORD = /"([^"]*)"?|[^\s"]+/gu

/** Splits a text into words; what is in double quotes is one word. */
export const wordsOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(WORD)].flatMap(([word, quoted]) => {
    const trimmed = (quoted ?? word).trim()
    return trimmed === "" ? [] : [trimmed]
  })

const parseWords = (text: string): Result.Result<ReadonlyArray<string>, string> => {
  const problem = Checks.sized(text, MAX_QUERY_CHARS) ?? Checks.problem(text)
  if (problem !== undefined) return Result.fail(problem)
  const words = wordsOf(text)
  if (words.length === 0) return Result.fail("must have a word to search for")
  return words.length > MAX_QUERY_WORDS
    ? Result.fail(`takes at most ${MAX_QUERY_WORDS} words; ${words.length} were given`)
    : Result.succeed(words)
}

/** Free words, each of which is a part of one of the texts. */
export const wordsIn = (texts: string) =>
  Text.parsed<ReadonlyArray<string>>(
    Schema.Array(Schema.String),
    {
      description: `Up to ${MAX_QUERY_WORDS} words. Each must be a part of ${texts}, in any case. Words in double quotes are searched together`,
      examples: ["receipt", 'ana@ "your order"'],
    },
    parseWords,
    (words) => words.map((word) => (/\s/u.test(word) ? `"${word}"` : word)).join(" "),
  )

/** Free words of a search of the email log. */
export const words = wordsIn(
  "an address, of the subject, of a tag, or of the beginning of the id, or the value of a pair of metadata",
)

const FIELDS = EmailFilter.FIELDS.map((field) => `\`${field}:\``).join(", ")

/** A search of the email log as it is typed, with the grammar of the dashboard. */
export const Typed = Schema.String.annotate({
  description: `A search as it is typed in the dashboard: ${FIELDS}, and up to ${MAX_QUERY_WORDS} words. Each word must be a part of the address of a recipient or of the sender, of the subject or of a tag, or the id or at least its first 10 characters, in any case, or the whole value of a pair of metadata. Words in double quotes are searched together. Dates without a time zone are in UTC`,
  examples: ["to:ana is:bounced since:7d", 'ana@ "your order"'],
}).check(Checks.chars(MAX_QUERY_CHARS, 1), Checks.oneLine)

const isEmailId = Schema.is(Id.EmailId)
const EMAIL_ID = /^<?(?<id>[^@<>\s]+)(?:@[^@<>\s]+)?>?$/u

/** Reads the id of an email, or its `Message-ID` header, which contains the id. */
const parseEmailId = (text: string): Result.Result<Id.EmailId, string> => {
  const id = EMAIL_ID.exec(text.trim())?.groups?.["id"]
  return isEmailId(id)
    ? Result.succeed(id)
    : Result.fail("must be a Message-ID of an email sent here, such as <msg_…@acme.com>, or the id of an email")
}

/** Writes a pair as an item of the parameter `metadata`, which the query holds as `metadata.<name>=<value>`. */
export const pairText = (name: string, value: string): string => JSON.stringify([name, value])

const parsePairs = (texts: ReadonlyArray<string>): Result.Result<Labels.Metadata, string> => {
  const pairs: Array<readonly [name: string, value: string]> = []
  for (const text of texts) {
    const pair = pairIn(text)
    if (pair === undefined) return Result.fail("must be given as `metadata.<name>=<value>`")
    const problem = Labels.metadataNameProblem(pair[0]) ?? Labels.metadataValueProblem(pair[1])
    if (problem !== undefined) return Result.fail(problem)
    pairs.push(pair)
  }
  return Result.succeed(Object.fromEntries(pairs))
}

const Pair = Schema.Tuple([Schema.String, Schema.String])
const pairIn = (text: string) => Option.getOrUndefined(Schema.decodeOption(Schema.fromJsonString(Pair))(text))

const Metadata = Schema.Array(Schema.String)
  .check(Checks.items(1, EmailFilter.MAX_PAIRS, "pairs"))
  .pipe(
    Schema.decodeTo(
      Schema.Record(Schema.String, Schema.String),
      SchemaTransformation.transformEffect<Labels.Metadata, ReadonlyArray<string>>({
        decode: (texts) =>
          Result.match(parsePairs(texts), {
            onSuccess: (pairs) => Effect.succeed(pairs),
            onFailure: (message) => Effect.fail(new SchemaIssue.InvalidValue({ message })),
          }),
        encode: (pairs) => Effect.succeed(Object.entries(pairs).map(([name, value]) => pairText(name, value))),
      }),
    ),
  )

const textUpTo = (maximum: number) => (description: string) =>
  Schema.String.annotate({ description }).check(Checks.chars(maximum, 1), Checks.oneLine)

const listOf =
  <S extends Schema.Top & { readonly literals: ReadonlyArray<string> }>(item: S, one: string, several: string) =>
  (description: string) => {
    const list = `One or several of ${item.literals.join(", ")}, separated by commas`
    return Checks.commaList(item, `${list}. ${description}`, [one, several])
  }

const codesOf = (description: string) => {
  const list = "One or several SMTP reply codes from 400 to 599, or classes of them, separated by commas"
  return Checks.codeList("reply codes", ReplyCode.MAX_CODES, ReplyCode.isCode, `${list}. ${description}`, [
    "550",
    "5xx",
  ])
}

const described =
  <S extends Schema.Top>(schema: S) =>
  (description: string) =>
    schema.annotate({ description })

/** The parameter of a kind: a text, or several. */
type Encoded<K extends EmailFilter.Kind> = K extends "tags" | "pairs" ? ReadonlyArray<string> : string
type SchemaOf<K extends EmailFilter.Kind> = Schema.Codec<EmailFilter.Values[K], Encoded<K>>

/** Makes the schema of a filter of each kind. */
const SCHEMAS: { readonly [K in EmailFilter.Kind]: (description: string) => SchemaOf<K> } = {
  address: described(Address.FromText),
  part: textUpTo(Address.MAX_ADDRESS_OCTETS),
  text: textUpTo(MAX_QUERY_CHARS),
  tags: (description: string) =>
    Schema.Array(Schema.String.check(Checks.oneLine))
      .annotate({ description })
      .check(Checks.items(1, EmailFilter.MAX_TAGS, "tags")),
  pairs: described(Metadata),
  domain: described(DomainName.FromText),
  statuses: listOf(Schema.Literals([...EmailStatus.ALL, "scheduled"]), "delivered", "bounced,failed"),
  recipientStatuses: listOf(EmailStatus.Status, "bounced", "bounced,complained"),
  codes: codesOf,
  providers: listOf(Schema.Literals(MailboxProvider.ALL), "gmail", "outlook,yahoo"),
  // An annotation would make a second schema of the document.
  key: () => Id.ApiKeyId,
  template: () => Id.TemplateId,
  time: described(Timestamp.FromIso),
  due: described(Timestamp.FromIso),
  email: (description: string) =>
    Text.parsed<Id.EmailId>(
      Id.EmailId,
      { description, examples: ["<msg_01k9zvjw4cf7y8h2n6q0r3t5vx@acme.com>"] },
      parseEmailId,
      (id) => id,
    ),
}

type Declared = typeof EmailFilter.ALL

/** The filters of the email log, as parameters. */
export const filters = Object.fromEntries(
  EmailFilter.NAMES.map((name) => {
    const { description, kind } = EmailFilter.of(name)
    return [name, Schema.optionalKey<Schema.Top>(SCHEMAS[kind](description))]
  }),
) as unknown as { readonly [N in EmailFilter.Name]: Schema.optionalKey<SchemaOf<Declared[N]["kind"]>> }
