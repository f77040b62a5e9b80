import * as Email from "@waybill/domain/email/Email"
import * as Inbound from "@waybill/domain/inbound/Inbound"
import { Schema } from "effect"
import * as Checks from "../../schemas/Checks.ts"

const fieldsOf = (cases: Readonly<Record<string, { readonly fields: Readonly<Record<string, unknown>> }>>) =>
  Object.values(cases).flatMap(({ fields }) => Object.keys(fields))

/** Names of fields of events of a mail, which a receipt can hide. */
const Field = Schema.Literals(
  [...new Set([...fieldsOf(Email.Event.cases), ...fieldsOf(Inbound.Event.cases)])]
    .filter((name) => name !== "_tag" && name !== "at")
    .toSorted(),
)

export const Redacted = Checks.commaList(
  Field,
  "Fields of events whose values are hidden, separated by commas. `recipient` hides all recipients, wherever they are named",
  ["recipient,subject"],
)

const Entry = Schema.Struct({
  v: Schema.Literal(1),
  event: Schema.String,
  stream: Schema.String.annotate({ description: "Hash of the id of the mail, with a salt" }),
  version: Schema.Natural,
  type: Schema.String.annotate({ examples: ["email.delivered"] }),
  at: Schema.String,
  data: Schema.String.annotate({ description: "Hash of the commitments of all fields" }),
}).annotate({ identifier: "ReceiptEntry" })

const Event = Schema.Struct({
  entry: Entry,
  fields: Schema.Record(Schema.String, Schema.Struct({ salt: Schema.String, value: Schema.Json })),
  hidden: Schema.Record(Schema.String, Schema.String).annotate({
    description: "Commitments of the fields that are hidden",
  }),
  index: Schema.Natural.annotate({ description: "Number of the leaf in the log, from 0" }),
  proof: Schema.Array(Schema.String).annotate({ description: "Hashes from the leaf's sibling to the root (RFC 9162)" }),
}).annotate({ identifier: "ReceiptEvent" })

export const Receipt = Schema.Struct({
  object: Schema.Literal("receipt"),
  origin: Schema.String.annotate({ description: "Name of the log" }),
  email: Schema.Record(Schema.String, Schema.Json).annotate({
    description: "The record of the mail. It follows from the events, and is not signed itself",
  }),
  events: Schema.Array(Event),
  checkpoint: Schema.String.annotate({ description: "The signed head of the log: a note of c2sp.org/tlog-checkpoint" }),
  cosignatures: Schema.Array(Schema.String).annotate({
    description: "Signatures of witnesses, each a line of the note",
  }),
  keys: Schema.Array(Schema.String).annotate({ description: "Keys that have signed the checkpoint: name+hash+base64" }),
}).annotate({ identifier: "Receipt" })
export type Receipt = typeof Receipt.Type

export const DESCRIPTION =
  "What the log holds about the mail, with a proof that can be checked offline, without trust in this service. A field that is hidden leaves its commitment, which nobody can guess without its salt. With `Accept: application/cose`, the same signed with COSE Receipts (RFC 9942). 422 `receipt_pending` if the last events are not signed within 3 seconds, `receipt_erased` if data was erased."
