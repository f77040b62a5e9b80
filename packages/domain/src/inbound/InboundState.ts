import { Schema } from "effect"
import * as Address from "../values/Address.ts"
import * as DomainName from "../values/DomainName.ts"
import * as Id from "../values/Id.ts"
import { Sha256 } from "../values/Sha256.ts"
import * as Text from "../values/Text.ts"
import * as Timestamp from "../values/Timestamp.ts"

/** A person or list in the header of a mail from outside. Its address may be none that this service would send to. */
export const Person = Schema.Struct({ address: Text.Stored, name: Schema.optionalKey(Text.Stored) })
export type Person = typeof Person.Type

/** How the mail came: what the client said, and from where. */
export const Envelope = Schema.Struct({
  /** The return path; empty for a bounce. */
  from: Text.Stored,
  to: Schema.Array(Address.Address),
  remote_ip: Schema.NullOr(Text.Stored),
  helo: Schema.NullOr(Text.Stored),
  /** Such as TLSv1.3. */
  tls: Schema.NullOr(Text.Stored),
})
export type Envelope = typeof Envelope.Type

export const Automatic = Schema.Literals(["auto_reply", "bounce", "list"])
export type Automatic = typeof Automatic.Type

export const Attachment = Schema.Struct({
  id: Text.Stored,
  filename: Text.Stored,
  content_type: Text.Stored,
  size_bytes: Schema.Natural,
  content_id: Schema.NullOr(Text.Stored),
  disposition: Schema.Literals(["attachment", "inline"]),
})
export type Attachment = typeof Attachment.Type

/** The header of a mail. Nothing in it is proved. */
export const Heading = Schema.Struct({
  from: Schema.NullOr(Person),
  to: Schema.Array(Person),
  cc: Schema.Array(Person),
  reply_to: Schema.Array(Person),
  subject: Schema.NullOr(Text.Stored),
  date: Schema.NullOr(Timestamp.Timestamp),
  message_id: Schema.NullOr(Text.Stored),
  in_reply_to: Schema.NullOr(Text.Stored),
  references: Schema.Array(Text.Stored),
  automatic: Schema.NullOr(Automatic),
  attachments: Schema.Array(Attachment),
  /** Whether all of the mail was read. */
  complete: Schema.Boolean,
})
export type Heading = typeof Heading.Type

export const SenderResult = Schema.Literals([
  "pass",
  "fail",
  "softfail",
  "neutral",
  "none",
  "policy",
  "temperror",
  "permerror",
])
export type SenderResult = typeof SenderResult.Type

/** Findings about who sent a mail (RFC 8601), when it came. */
export const Authentication = Schema.Struct({
  spf: SenderResult,
  dkim: Schema.Array(Schema.Struct({ domain: Text.Stored, result: SenderResult })),
  dmarc: SenderResult,
  arc: SenderResult,
})
export type Authentication = typeof Authentication.Type

/** Findings about a mail whose sender nobody has looked into. */
export const NOT_JUDGED: Authentication = { spf: "none", dkim: [], dmarc: "none", arc: "none" }

/** The finding of DMARC in one word: it passed, it failed, or there was none. */
export const SenderVerdict = Schema.Literals(["pass", "fail", "none"])
export type SenderVerdict = typeof SenderVerdict.Type

export const verdictOf = ({ dmarc }: Pick<Authentication, "dmarc">): SenderVerdict =>
  dmarc === "pass" || dmarc === "fail" ? dmarc : "none"

/** End of a mail: `rejected` was refused in the session, and `dropped` was accepted without telling anybody. */
export const InboundStatus = Schema.Literals(["received", "dropped", "rejected"])
export type InboundStatus = typeof InboundStatus.Type

/** Result of a forward: the email that it is, or the reason for which some or all of its addresses have none. */
const forwarded = {
  email_id: Schema.optionalKey(Id.EmailId),
  refusal: Schema.optionalKey(Text.Stored),
}
const Forwarded = Schema.Struct(forwarded)
export type Forwarded = typeof Forwarded.Type

/** A route that was applied to a mail. */
export const Applied = Schema.Struct({
  route_id: Id.InboundRouteId,
  action: Schema.Literals(["webhook", "forward", "reject", "drop", "store"]),
  /** The only webhook that is called. Absent: all that subscribe. */
  webhook_id: Schema.optionalKey(Id.WebhookId),
  /** Only of a forward. */
  ...forwarded,
})
export type Applied = typeof Applied.Type

export const Event = Schema.TaggedUnion({
  EmailReceived: {
    inbound_id: Id.InboundId,
    thread_id: Id.ThreadId,
    /** The sent email that the mail answers. */
    email_id: Schema.NullOr(Id.EmailId),
    envelope: Envelope,
    ...Heading.fields,
    auth: Authentication,
    /** Domain of the first recipient. */
    domain: DomainName.DomainName,
    /** The text after the plus sign in the first recipient. */
    mailbox_hash: Schema.NullOr(Text.Stored),
    size_bytes: Schema.Natural,
    /** Hash of the mail as it came, which is kept for some days. */
    sha256: Sha256,
    at: Timestamp.Timestamp,
  },
  /** The routes that apply to a mail, all of them. Those of a replay replace the ones before. */
  RouteApplied: {
    inbound_id: Id.InboundId,
    status: InboundStatus,
    routes: Schema.Array(Applied),
    at: Timestamp.Timestamp,
  },
  /** An email of the account that answers the mail. */
  InboundReplied: { inbound_id: Id.InboundId, email_id: Id.EmailId, at: Timestamp.Timestamp },
  /** A forward of the mail that no route asked for. */
  InboundForwarded: { inbound_id: Id.InboundId, ...forwarded, at: Timestamp.Timestamp },
  InboundDeleted: { inbound_id: Id.InboundId, at: Timestamp.Timestamp },
})
export type Event = typeof Event.Type

export type Received = typeof Event.cases.EmailReceived.Type

/** A mail, its end and its routes. */
export interface Kept {
  readonly mail: Received
  readonly status: InboundStatus
  readonly routes: ReadonlyArray<Applied>
  /** Emails that answer it, the newest ones. */
  readonly replies: ReadonlyArray<Id.EmailId>
  /** Forwards that no route asked for, the newest ones; absent if there are none. */
  readonly forwards?: ReadonlyArray<Forwarded>
}

/** Maximum number of answers, and of forwards, that a record names. */
export const MAX_REPLIES = 100

export type State =
  | { readonly _tag: "NotReceived" }
  | ({ readonly _tag: "Received" } & Kept)
  | ({ readonly _tag: "Deleted" } & Kept)

export const initial: State = { _tag: "NotReceived" }

export const evolve = (state: State, event: Event): State => {
  switch (event._tag) {
    case "EmailReceived":
      return state._tag === "NotReceived"
        ? { _tag: "Received", mail: event, status: "received", routes: [], replies: [] }
        : state
    case "RouteApplied":
      return state._tag === "Received" ? { ...state, status: event.status, routes: event.routes } : state
    case "InboundReplied":
      return state._tag === "Received"
        ? { ...state, replies: [...state.replies, event.email_id].slice(-MAX_REPLIES) }
        : state
    case "InboundForwarded": {
      if (state._tag !== "Received") return state
      const { _tag, at, inbound_id, ...forward } = event
      return { ...state, forwards: [...(state.forwards ?? []), forward].slice(-MAX_REPLIES) }
    }
    case "InboundDeleted":
      return state._tag === "Received" ? { ...state, _tag: "Deleted" } : state
  }
}
