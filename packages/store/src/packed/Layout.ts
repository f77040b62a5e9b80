/**
 * How the value of a field is written. `text` is a string as it is, `number` a natural number, `mailbox` and `mailboxes`
 * are addresses, with names only where there are some, and `content` is a hash and whether there is HTML and text. A value
 * of any other form is written as JSON.
 */
export type Form = "text" | "number" | "json" | "mailbox" | "mailboxes" | "content"

/** The meaning of an empty token: this value, one that follows from the rest of the event, or no field at all. */
export type Usual =
  | { readonly _tag: "Value"; readonly value: unknown }
  | { readonly _tag: "Derived"; readonly from: Derivation }
  | { readonly _tag: "Absent" }

/** Values that nearly always follow from the rest of the event. */
export type Derivation = "stream id" | "message id" | "key of the actor"

export interface PackedField {
  readonly name: string
  readonly form: Form
  readonly usual: Usual
}

const value = (usual: unknown): Usual => ({ _tag: "Value", value: usual })
const derived = (from: Derivation): Usual => ({ _tag: "Derived", from })
const absent: Usual = { _tag: "Absent" }

const text = (name: string, usual: Usual = value(null)): PackedField => ({ name, form: "text", usual })
const number = (name: string): PackedField => ({ name, form: "number", usual: value(null) })
const json = (name: string, usual: Usual): PackedField => ({ name, form: "json", usual })
const mailboxes = (name: string): PackedField => ({ name, form: "mailboxes", usual: value([]) })

const at = text("at")
const recipient = text("recipient")
const response: ReadonlyArray<PackedField> = [
  number("attempt"),
  number("code"),
  text("enhanced_code"),
  text("response"),
  text("mx"),
  text("tls"),
  number("duration_ms"),
  text("category"),
]
const handover: ReadonlyArray<PackedField> = [
  text("address", absent),
  text("certificate_sha256", absent),
  text("message_sha256", absent),
]
const simulation: ReadonlyArray<PackedField> = [json("simulated", absent), text("would_suppress", absent)]

/**
 * The fields of each event of a message, in the order in which its row has them. Rows keep this order for ever: a new field
 * is added at the end, and is absent from the rows that have fewer. The time comes first, in every event.
 */
export const LAYOUTS: Readonly<Record<string, ReadonlyArray<PackedField>>> = {
  EmailQueued: [
    text("created_at"),
    { name: "from", form: "mailbox", usual: value(null) },
    mailboxes("to"),
    mailboxes("cc"),
    mailboxes("bcc"),
    mailboxes("reply_to"),
    text("subject"),
    json("headers", value({})),
    json("tags", value([])),
    text("scheduled_at"),
    text("domain"),
    text("domain_id"),
    json("livemode", absent),
    text("script", absent),
    text("api_key_id", derived("key of the actor")),
    { name: "content", form: "content", usual: value(null) },
    number("size_bytes"),
    text("resend_of"),
    json("list_unsubscribe", value(false)),
    json("tracking", absent),
    text("test_clock", absent),
    text("email_id", derived("stream id")),
    text("message_id", derived("message id")),
    json("allowed_headers", absent),
    json("dropped_headers", absent),
    json("metadata", absent),
    json("template", absent),
    text("forward_of", absent),
    json("reply_tracking", absent),
  ],
  EmailSuppressed: [at, recipient, text("reason"), json("simulated", absent)],
  EmailSent: [at, recipient, ...response, ...handover],
  EmailDelivered: [at, recipient, ...response, ...handover],
  EmailDeferred: [at, recipient, ...response, text("next_attempt_at")],
  EmailBounced: [at, recipient, ...response, text("bounce_type"), ...simulation],
  EmailFailed: [at, recipient, ...response],
  EmailAttemptLost: [at, recipient, number("attempt")],
  EmailComplained: [at, recipient, text("feedback_type"), ...simulation],
  EmailOpened: [at, recipient, text("user_agent"), text("ip")],
  EmailClicked: [at, recipient, text("url"), text("user_agent"), text("ip")],
  EmailCanceled: [at, json("refunded", absent)],
  EmailRescheduled: [at, text("scheduled_at")],
  EmailResent: [at, text("copy_id")],
}

/** The first tokens of every packed event: its `meta`. */
export const HEAD = ["schema_version", "actor", "address", "request_id", "correlation_id", "causation_id"] as const

/** Returns the number of a field's token, from 1, as `split_part` counts. */
export const tokenOf = (type: string, name: string): number => {
  const nth = (LAYOUTS[type] ?? []).findIndex((field) => field.name === name)
  if (nth < 0) throw new Error(`${type} has no field ${name}`)
  return HEAD.length + nth + 1
}

/** Returns the number of the token of a part of `meta`, from 1. */
export const headTokenOf = (name: (typeof HEAD)[number]): number => HEAD.indexOf(name) + 1
