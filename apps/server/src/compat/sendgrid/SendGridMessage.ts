import * as Checks from "@waybill/api/schemas/Checks"
import { MAX_COPIES, MAX_REPLY_TO } from "@waybill/api/schemas/EmailMessage"
import { MAX_ATTACHMENTS } from "@waybill/domain/email/Content"
import * as Header from "@waybill/domain/email/Header"
import * as Labels from "@waybill/domain/email/Labels"
import { Schema } from "effect"
import * as Fields from "../lenient/Fields.ts"
import * as Pairs from "../lenient/Pairs.ts"
import * as Substitutions from "./Substitutions.ts"

/** A field that Waybill has no meaning for. The message continues after its name. */
const refused = (message: string) => Schema.optional(Schema.Unknown.check(Schema.makeFilter(() => message)))

/** A switch that may only be off. A value that is not a boolean is refused, because it may be meant as on. */
const off = (message: string) => Schema.Boolean.check(Schema.makeFilter((on: boolean) => !on || message))

/** A setting that Waybill does not have, with the fields that SendGrid documents. It may only be off. */
const setting = (message: string, others: ReadonlyArray<string> = []) =>
  Schema.optional(
    Schema.Struct({
      enable: Schema.optional(off(message)),
      ...Object.fromEntries(others.map((name) => [name, Schema.optional(Schema.Unknown)])),
    }),
  )

const Mailbox = Schema.Struct({ email: Schema.String, name: Schema.optional(Schema.String) })
export type Mailbox = typeof Mailbox.Type

const Mailboxes = Schema.Array(Mailbox).check(Checks.items(0, MAX_COPIES, "addresses"))
const Headers = Schema.optional(Pairs.schema(Header.MAX_HEADERS, "headers"))
/** `unique_args` is their old name. */
const Arguments = Schema.optional(Pairs.schema(Labels.MAX_METADATA, "arguments"))
/** A Unix time, at most the last second of the year 9999. */
const UnixTime = Schema.Int.check(
  Schema.makeFilter(
    (seconds: number) => (seconds >= 0 && seconds < 253_402_300_800) || "must be a Unix time in seconds",
  ),
)
/** Maximum number of personalizations of a request, as at SendGrid. */
export const MAX_PERSONALIZATIONS = 1_000

const Personalization = Schema.Struct({
  to: Mailboxes,
  cc: Schema.optional(Mailboxes),
  bcc: Schema.optional(Mailboxes),
  from: Schema.optional(Mailbox),
  subject: Schema.optional(Schema.String),
  headers: Headers,
  custom_args: Arguments,
  unique_args: Arguments,
  send_at: Schema.optional(UnixTime),
  substitutions: Schema.optional(Pairs.schema(Substitutions.MAX_NAMES, "substitutions")),
  /** Means nothing without a template, and clients send it all the same. */
  dynamic_template_data: Schema.optional(Schema.Unknown),
})
export type Personalization = typeof Personalization.Type

const CALENDAR = /^text\/calendar(?: *;|$)/iu
export const isCalendar = ({ type }: { readonly type: string }): boolean => CALENDAR.test(type)

/** A form of the text. A meeting invitation may have parameters, such as its method. */
const Content = Schema.Struct({
  type: Schema.String.check(
    Schema.makeFilter(
      (type: string) =>
        type === "text/plain" ||
        type === "text/html" ||
        isCalendar({ type }) ||
        "must be text/plain, text/html or text/calendar",
    ),
  ),
  value: Schema.String,
})
const MAX_PARTS = 3
const kindOf = (part: typeof Content.Type): string => (isCalendar(part) ? "text/calendar" : part.type)

const Attachment = Schema.Struct({
  /** Absent for an empty file. */
  content: Schema.optional(Fields.FileContent),
  /** Absent for a file without a name. */
  filename: Schema.optional(Schema.String),
  type: Schema.optional(Schema.String),
  disposition: Schema.optional(Schema.Literals(["attachment", "inline"])),
  content_id: Schema.optional(Schema.String),
  /** The package `@sendgrid/mail` types the field so, and does not translate names within attachments. */
  contentId: Schema.optional(Schema.String),
  /** The adapter of Medusa names the type so. */
  content_type: Schema.optional(Schema.String),
}).check(
  Schema.makeFilter(
    ({ contentId, content_id, disposition }) =>
      disposition !== "inline" ||
      !!(content_id ?? contentId) || { path: ["content_id"], issue: "is required with disposition inline" },
  ),
)

export type Attachment = typeof Attachment.Type

const Tracking = Schema.Struct({
  click_tracking: Schema.optional(
    Schema.Struct({
      enable: Schema.optional(Schema.Boolean),
      enable_text: Schema.optional(off("cannot be true: Waybill tracks links of the HTML only")),
    }),
  ),
  open_tracking: Schema.optional(
    Schema.Struct({
      enable: Schema.optional(Schema.Boolean),
      substitution_tag: refused("has no meaning: Waybill adds the pixel at the end of the HTML"),
    }),
  ),
  subscription_tracking: setting(
    "cannot be true: Waybill adds unsubscribe headers by list_unsubscribe of its own API",
    ["text", "html", "substitution_tag"],
  ),
  ganalytics: setting("cannot be true: Waybill adds nothing to links", [
    "utm_source",
    "utm_medium",
    "utm_term",
    "utm_content",
    "utm_campaign",
  ]),
})

const BYPASS = "cannot be true: Waybill always respects the suppressions of the account"

const MailSettings = Schema.Struct({
  /** Only its exact form is taken, because any other may mean that nothing is to be sent. */
  sandbox_mode: Schema.optional(Schema.Struct({ enable: Schema.Boolean })),
  footer: setting("cannot be true: Waybill adds nothing to the content", ["text", "html"]),
  bcc: setting("cannot be true: put the address into bcc", ["email"]),
  spam_check: setting("cannot be true: Waybill has no spam check of outgoing mail", ["threshold", "post_to_url"]),
  bypass_list_management: setting(BYPASS),
  bypass_spam_management: setting(BYPASS),
  bypass_bounce_management: setting(BYPASS),
  bypass_unsubscribe_management: setting(BYPASS),
})

const MAX_CATEGORIES = 10
const MAX_CATEGORY_CHARS = 255

/** A request to send as SendGrid's API takes it. Fields that Waybill has no meaning for are refused by name. */
export const Message = Schema.Struct({
  personalizations: Schema.Array(Personalization).check(Checks.items(1, MAX_PERSONALIZATIONS, "entries")),
  from: Mailbox,
  reply_to: Schema.optional(Mailbox),
  reply_to_list: Schema.optional(Schema.Array(Mailbox).check(Checks.items(0, MAX_REPLY_TO, "addresses"))),
  subject: Schema.optional(Schema.String),
  /** Required below, without a template. */
  content: Schema.optional(
    Schema.Array(Content).check(
      Checks.items(0, MAX_PARTS, "parts"),
      Schema.makeFilter(
        (parts) => new Set(parts.map(kindOf)).size === parts.length || "must have one part of each type at most",
      ),
    ),
  ),
  attachments: Schema.optional(Schema.Array(Attachment).check(Checks.items(0, MAX_ATTACHMENTS, "attachments"))),
  headers: Headers,
  categories: Schema.optional(
    Schema.Array(Schema.String.check(Checks.chars(MAX_CATEGORY_CHARS))).check(
      Checks.items(0, MAX_CATEGORIES, "categories"),
    ),
  ),
  custom_args: Arguments,
  unique_args: Arguments,
  send_at: Schema.optional(UnixTime),
  tracking_settings: Schema.optional(Tracking),
  mail_settings: Schema.optional(MailSettings),
  template_id: Schema.optional(Schema.String),
  sections: refused("has no meaning: sections are of legacy templates, which Waybill does not have"),
  asm: refused("has no meaning: Waybill has no unsubscribe groups"),
  batch_id: Schema.optional(Schema.String),
  ip_pool_name: refused("has no meaning: the operator of Waybill chooses the pool of addresses"),
}).check(
  Schema.makeFilter(
    ({ reply_to, reply_to_list }) =>
      !reply_to || !reply_to_list || { path: ["reply_to_list"], issue: "cannot be combined with `reply_to`" },
  ),
  Schema.makeFilter(
    ({ content, template_id }) =>
      content !== undefined || template_id !== undefined || { path: ["content"], issue: "is required" },
  ),
)
export type Message = typeof Message.Type
