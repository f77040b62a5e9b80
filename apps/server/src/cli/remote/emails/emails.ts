import type * as T from "@waybill/client/Waybill"
import { Effect, Option } from "effect"
import { Command } from "effect/cli"
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
import * as FilterFlags from "./FilterFlags.ts"
import * as ApiCommand from "../ApiCommand.ts"

const TIMELINE_COLUMNS = ["version", "occurred_at", "type", "actor", "data"]
const id = Options.argument("id", "Email id, msg_…, or a part as lists show it")

const list = DataCommand.command(
  { search: EmailList.search, filters: FilterFlags.ALL, limit: Flags.limit },
  function* ({ filters, json, limit, search }) {
    const q = search.length === 0 ? {} : { q: search.join(" ") }
    yield* EmailList.print(Object.assign({}, q, ...filters), limit, json)
  },
)

/** Returns a server's reply as it stood on the wire. */
const replyOf = (smtp: T.SmtpAnswer | null): string | null =>
  smtp === null ? null : [smtp.code, smtp.enhanced_code, smtp.response].filter((part) => part !== null).join(" ")

const get = DataCommand.command({ id }, function* ({ id, json }) {
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

const timeline = DataCommand.command({ id }, function* ({ id, json }) {
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
})

const resend = ApiCommand.record({ id }, async (client, { id }) => ({
  ...(await client.emails.resend(id)),
  resent: id,
}))

export const emails = DataCommand.group({
  list: ["List emails, newest first", list],
  get: ["Show an email, its recipients and its text", get],
  timeline: ["Show everything that happened to an email", timeline],
  cancel: ["Cancel an email that has not been sent yet, or all of a search such as `scheduled:tomorrow`", cancel],
  resend: ["Send an email again to the recipients that it did not reach, as a new email", resend],
}).with(Command.provide(ApiClient.layer))
