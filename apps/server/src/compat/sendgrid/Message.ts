import { Schema } from "effect"

/** A field that clients leave out or send as null. */
const field = <S extends Schema.Top>(schema: S) => Schema.optional(Schema.NullOr(schema))

/** A field that Waybill has no meaning for. The message continues after its name. */
const refused = (message: string) =>
  field(Schema.Unknown.check(Schema.makeFilter((value: unknown) => value === null || message)))

/** A setting that may only be off. */
const off = (message: string) =>
  field(
    Schema.Record(Schema.String, Schema.Unknown).check(
      Schema.makeFilter(({ enable }) => enable !== true || { path: ["enable"], issue: message }),
    ),
  )

const Mailbox = Schema.Struct({ email: Schema.String, name: field(Schema.String) })
export type Mailbox = typeof Mailbox.Type

const Texts = Schema.Record(Schema.String, Schema.String)
const NO_TEMPLATES = "has no meaning: Waybill has no templates. Render the email in your program, and send its content"

const Personalization = Schema.Struct({
  to: Schema.Array(Mailbox),
  cc: field(Schema.Array(Mailbox)),
  bcc: field(Schema.Array(Mailbox)),
  from: field(Mailbox),
  subject: field(Schema.String),
  headers: field(Texts),
  custom_args: field(Texts),
  send_at: field(Schema.Int),
  substitutions: refused(NO_TEMPLATES),
  dynamic_template_data: refused(NO_TEMPLATES),
})
export type Personalization = typeof Personalization.Type

const Content = Schema.Struct({
  type: Schema.Literals(["text/plain", "text/html"]),
  value: Schema.String,
})

const Attachment = Schema.Struct({
  content: Schema.String,
  filename: Schema.String,
  type: field(Schema.String),
  disposition: field(Schema.Literals(["attachment", "inline"])),
  content_id: field(Schema.String),
  /** The package `@sendgrid/mail` types the field so, and does not translate names within attachments. */
  contentId: field(Schema.String),
}).check(
  Schema.makeFilter(
    ({ contentId, content_id, disposition }) =>
      disposition !== "inline" ||
      !!(content_id ?? contentId) || { path: ["content_id"], issue: "is required with disposition inline" },
  ),
)

const Tracking = Schema.Struct({
  click_tracking: field(
    Schema.Struct({
      enable: field(Schema.Boolean),
      enable_text: field(
        Schema.Boolean.check(
          Schema.makeFilter((enabled) => !enabled || "cannot be true: Waybill tracks links of the HTML only"),
        ),
      ),
    }),
  ),
  open_tracking: field(
    Schema.Struct({
      enable: field(Schema.Boolean),
      substitution_tag: refused("has no meaning: Waybill adds the pixel at the end of the HTML"),
    }),
  ),
  subscription_tracking: off("cannot be true: Waybill adds unsubscribe headers by list_unsubscribe of its own API"),
  ganalytics: off("cannot be true: Waybill adds nothing to links"),
})

const BYPASS = "cannot be true: Waybill always respects the suppressions of the account"

const MailSettings = Schema.Struct({
  sandbox_mode: off("cannot be true: send with a test key of Waybill, whose mail never leaves"),
  footer: off("cannot be true: Waybill adds nothing to the content"),
  bcc: off("cannot be true: put the address into bcc"),
  spam_check: off("cannot be true: Waybill has no spam check of outgoing mail"),
  bypass_list_management: off(BYPASS),
  bypass_spam_management: off(BYPASS),
  bypass_bounce_management: off(BYPASS),
  bypass_unsubscribe_management: off(BYPASS),
})

/** A request to send as SendGrid's API takes it. Fields that Waybill has no meaning for are refused by name. */
export const Message = Schema.Struct({
  personalizations: Schema.Array(Personalization),
  from: Mailbox,
  reply_to: field(Mailbox),
  reply_to_list: field(Schema.Array(Mailbox)),
  subject: field(Schema.String),
  content: Schema.Array(Content).check(
    Schema.makeFilter(
      (parts) =>
        new Set(parts.map(({ type }) => type)).size === parts.length || "must have one part of each type at most",
    ),
  ),
  attachments: field(Schema.Array(Attachment)),
  headers: field(Texts),
  categories: field(Schema.Array(Schema.String)),
  custom_args: field(Texts),
  send_at: field(Schema.Int),
  tracking_settings: field(Tracking),
  mail_settings: field(MailSettings),
  template_id: refused(NO_TEMPLATES),
  sections: refused(NO_TEMPLATES),
  asm: refused("has no meaning: Waybill has no unsubscribe groups"),
  batch_id: refused("has no meaning: Waybill cancels each email by its id, at POST /v1/email/{id}/cancel"),
  ip_pool_name: refused("has no meaning: Waybill has no pools of addresses"),
}).check(
  Schema.makeFilter(
    ({ reply_to, reply_to_list }) =>
      !reply_to || !reply_to_list || { path: ["reply_to_list"], issue: "cannot be combined with `reply_to`" },
  ),
)
export type Message = typeof Message.Type
