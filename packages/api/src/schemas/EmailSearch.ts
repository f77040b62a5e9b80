import * as Id from "@waybill/domain/values/Id"
import * as Text from "@waybill/domain/values/Text"
import { Result, Schema } from "effect"
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

/** A search of the email log as it is typed, with the grammar of the dashboard. */
export const Typed = Schema.String.annotate({
  description: `A search as it is typed in the dashboard: \`to:\`, \`from:\`, \`subject:\`, \`tag:\`, \`metadata:name=value\`, \`domain:\`, \`is:\` (or \`status:\`), \`anyone:\`, \`code:\`, \`provider:\`, \`key:\`, \`template:\`, \`since:\`, \`until:\`, \`scheduled:\` and \`id:\`, and up to ${MAX_QUERY_WORDS} words. Each word must be a part of the address of a recipient or of the sender, of the subject or of a tag, or the id or at least its first 10 characters, in any case, or the whole value of a pair of metadata. Words in double quotes are searched together. Dates without a time zone are in UTC`,
  examples: ["to:ana is:bounced since:7d", 'ana@ "your order"'],
}).check(Checks.chars(MAX_QUERY_CHARS, 1), Checks.oneLine)

const isEmailId = Schema.is(Id.EmailId)
const MESSAGE_ID = /^<?(?<id>[^@<>\s]+)(?:@[^@<>\s]+)?>?$/u

const parseMessageId = (text: string): Result.Result<Id.EmailId, string> => {
  const id = MESSAGE_ID.exec(text.trim())?.groups?.["id"]
  return isEmailId(id)
    ? Result.succeed(id)
    : Result.fail("must be a Message-ID of an email sent here, such as <msg_…@acme.com>, or the id of an email")
}

/** The `Message-ID` header of an email contains its id. */
export const MessageId = Text.parsed<Id.EmailId>(
  Id.EmailId,
  {
    description: "The `Message-ID` header of an email, with or without angle brackets; or its id",
    examples: ["<msg_01k9zvjw4cf7y8h2n6q0r3t5vx@acme.com>"],
  },
  parseMessageId,
  (id) => id,
)
