import * as Labels from "@waybill/domain/email/Labels"
import * as SearchedStatus from "@waybill/domain/search/SearchedStatus"
import type * as T from "@waybill/client/Waybill"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as Options from "../../Options.ts"
import * as DataCommand from "../../DataCommand.ts"
import * as Output from "../../Output.ts"
import * as OutputStyle from "../../OutputStyle.ts"
import { ApiClient, call } from "../ApiClient.ts"
import * as Flags from "../Flags.ts"
import * as WholeId from "../WholeId.ts"
import { cancel } from "./cancel.ts"
import * as EmailList from "./EmailList.ts"
import * as EventLines from "./EventLines.ts"

const TIMELINE_COLUMNS = ["version", "occurred_at", "type", "actor", "data"]
const id = Argument.String("id").pipe(Argument.withDescription("Email id, msg_…, or the begin of one"))

const WHOLE_ADDRESS = /[^\s@<]@[^\s@]/u

/** A part of an address finds all addresses with it. */
const recipientOf = (to: Option.Option<string>): T.LogsQuery =>
  Option.match(to, {
    onNone: () => ({}),
    onSome: (text) => (WHOLE_ADDRESS.test(text) ? { to: text } : { recipient: text }),
  })

/** A sender without a local part is a domain. */
const senderOf = (from: Option.Option<string>): T.LogsQuery =>
  Option.match(from, {
    onNone: () => ({}),
    onSome: (text) => (text.startsWith("@") ? { domain: text.slice(1) } : { from: text }),
  })

const list = DataCommand.command(
  "list",
  "List emails, newest first",
  {
    search: EmailList.search,
    status: Flag.Literals("status", SearchedStatus.OF_API).pipe(
      Flag.withDescription("Only this status; repeat for several"),
      Flag.between(0, SearchedStatus.OF_API.length),
    ),
    code: Options.text("code", "Only refused with one of these SMTP reply codes, such as 550,4xx"),
    provider: Options.text("provider", "Only to mailboxes at one of these providers, such as gmail,outlook"),
    to: Options.text("to", "Only to this address, or to a part of one such as @gmail.com"),
    from: Options.text("from", "Only from this address, or from a domain such as @acme.com"),
    subject: Options.text("subject", "Words of the subject"),
    tag: Flag.String("tag").pipe(Flag.withDescription("Only with this tag; repeat for several"), Flag.between(0, 10)),
    metadata: Flags.pairs("metadata", "Only with this metadata, `name=value`", Labels.MAX_METADATA_FILTERS),
    domain: Options.text("domain", "Only from this domain"),
    since: Flags.time("since", "Only emails accepted at or after"),
    until: Flags.time("until", "Only emails accepted before"),
    limit: Flags.limit,
  },
  function* ({ code, domain, from, json, limit, metadata, provider, search, since, status, subject, tag, to, until }) {
    const query: T.LogsQuery = {
      ...(search.length === 0 ? {} : { q: search.join(" ") }),
      ...Flags.present({ code, subject }),
      ...Option.match(provider, {
        onNone: () => ({}),
        onSome: (names) => ({ provider: names as Exclude<T.LogsQuery["provider"], undefined> }),
      }),
      ...recipientOf(to),
      ...Flags.present({ domain }),
      ...senderOf(from),
      ...Flags.present({ created_after: since, created_before: until }),
      ...(status.length === 0 ? {} : { status }),
      ...(tag.length === 0 ? {} : { tag }),
      ...(metadata.length === 0 ? {} : { metadata: Object.fromEntries(metadata) }),
    }
    yield* EmailList.print(query, limit, json)
  },
)

/** Returns a server's reply as it stood on the wire. */
const replyOf = (smtp: T.SmtpAnswer | null): string | null =>
  smtp === null ? null : [smtp.code, smtp.enhanced_code, smtp.response].filter((part) => part !== null).join(" ")

const get = DataCommand.command("get", "Show an email, its recipients and its text", { id }, function* ({ id, json }) {
  const email = yield* WholeId.call(id, (client, id) => client.logs.get(id))
  if (json) return yield* Output.printJson(email, 2)
  const { content, object: _, recipients, ...stored } = email
  const [record = stored] = yield* EmailList.withShownStatus([stored])
  const { attempts: __, error: ___, recipient_counts: ____, version: _____, ...shown } = record
  // The table of recipients says the rest.
  yield* Output.printOne((yield* OutputStyle.isTerminal) ? shown : record, { json })
  yield* Output.say("")
  const rows = recipients.map(({ smtp, ...recipient }) => ({ ...recipient, reply: replyOf(smtp) }))
  yield* Output.print(rows, { json, columns: ["address", "kind", "status", "attempts", "reply"] })
  if (typeof content?.text === "string") yield* Output.sayLines(`\n${content.text}`)
})

/** Names of the keys that caused events, as far as the key of the command may read them. */
const keyNamesOf = Effect.fnUntraced(function* (events: ReadonlyArray<T.Event>) {
  const ids = new Set(events.flatMap(({ actor }) => (actor.type === "api_key" ? (actor.id ?? []) : [])))
  const names = new Map<string, string>()
  for (const id of ids) {
    const key = yield* Effect.option(call((client) => client.apiKeys.get(id)))
    if (Option.isSome(key)) names.set(id, key.value.name)
  }
  return names
})

const timeline = DataCommand.command(
  "timeline",
  "Show everything that happened to an email",
  { id },
  function* ({ id, json }) {
    const { data } = yield* WholeId.call(id, (client, id) => client.logs.events(id))
    if (json) return yield* Output.printJson(data, 2)
    const keyNames = yield* keyNamesOf(data)
    const { columns, ...style } = yield* OutputStyle.current
    if (columns !== undefined)
      return yield* Effect.forEach(EventLines.timeline(data, keyNames, { ...style, columns }), Output.sayColoured, {
        discard: true,
      })
    const rows = data.map((event) => ({ ...event, actor: EventLines.actorOf(event, keyNames) }))
    yield* Output.print(rows, { json, columns: TIMELINE_COLUMNS })
  },
)

const resend = DataCommand.record(
  "resend",
  "Send an email again to the recipients that it did not reach, as a new email",
  { id },
  function* ({ id }) {
    return yield* WholeId.call(id, async (client, id) => ({ ...(await client.emails.resend(id)), resent: id }))
  },
)

export const emails = Command.make("emails").pipe(
  Command.withDescription("Emails that were accepted"),
  Command.withSubcommands([list, get, timeline, cancel, resend]),
  Command.provide(ApiClient.layer),
)
