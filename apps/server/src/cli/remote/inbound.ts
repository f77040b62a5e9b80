import * as Forward from "@waybill/domain/inbound/Forward"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as fs from "node:fs/promises"
import { CommandRefused } from "../../process/CommandRefused.ts"
import * as Options from "../Options.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Output from "../Output.ts"
import { ApiClient, firstOf } from "./ApiClient.ts"
import * as Flags from "./Flags.ts"
import { inboundRoutes } from "./inboundRoutes.ts"
import * as WholeId from "./WholeId.ts"

const COLUMNS = ["created_at", "status", "from", "subject", "id", "to"]

const id = Argument.String("id").pipe(Argument.withDescription("Id of a received mail, inb_…, or the begin of one"))

const list = DataCommand.firstOf(
  "list",
  "List received mail, newest first",
  {
    to: Options.text("to", "Only to this address"),
    from: Options.text("from", "Only from this address"),
    q: Options.text("search", "Part of the subject or of an address"),
    domain: Options.text("domain", "Only for this domain"),
    status: Flag.Literals("status", ["received", "dropped", "rejected"]).pipe(
      Flag.withDescription("Only mail of which this became"),
      Flag.optional,
    ),
    created_after: Flags.time("since", "Only mail that came at or after"),
    created_before: Flags.time("until", "Only mail that came before"),
    limit: Flags.limit,
  },
  COLUMNS,
  function* ({ json: _, limit, ...filters }) {
    return yield* firstOf((client) => client.inbound.all(Flags.present(filters)), limit)
  },
  (mail) => shown({ ...mail }),
  "No received mail matches.",
)

/** A row for people: the sender and the recipients as plain addresses. */
const shown = (mail: Readonly<Record<string, unknown>>) => {
  const { envelope, from } = mail as {
    readonly from: { readonly address: string } | null
    readonly envelope: { readonly to: ReadonlyArray<string> }
  }
  return { ...mail, from: from?.address ?? "", to: envelope.to.join(", ") }
}

const get = DataCommand.command("get", "Show a received mail and its text", { id }, function* ({ id, json }) {
  const mail = yield* WholeId.call(id, (client, id) => client.inbound.get(id))
  if (json) return yield* Output.printJson(mail, 2)
  const { attachments, headers: _, html: __, object: ___, stripped_text: ____, text, ...record } = mail
  yield* Output.printOne(shown({ ...record }), { json })
  if (attachments.length > 0) {
    yield* Output.say("")
    yield* Output.print(attachments, { json, columns: ["id", "filename", "content_type", "size_bytes"] })
  }
  if (text !== null) yield* Output.sayLines(`\n${text}`)
})

const raw = DataCommand.told(
  "raw",
  "Write a received mail as it came to a file",
  {
    id,
    file: Argument.String("file").pipe(Argument.withDescription("File to write, such as mail.eml")),
  },
  function* ({ file, id }) {
    const bytes = yield* WholeId.call(id, (client, id) => client.inbound.raw(id))
    yield* Effect.tryPromise({
      try: () => fs.writeFile(file, new Uint8Array(bytes), { mode: 0o600 }),
      catch: (cause) =>
        new CommandRefused({ message: `${file}: ${cause instanceof Error ? cause.message : String(cause)}` }),
    })
    return { file, size_bytes: bytes.byteLength }
  },
  ({ file, size_bytes }) => Output.say(`${file} contains ${size_bytes} bytes.`),
)

const remove = DataCommand.record("remove", "Delete a received mail with its content", { id }, function* ({ id }) {
  return yield* WholeId.call(id, (client, id) => client.inbound.remove(id))
})

const replay = DataCommand.record(
  "replay",
  "Apply the routes to a received mail again, and call its webhooks",
  { id },
  function* ({ id }) {
    const { id: mail, routes, status } = yield* WholeId.call(id, (client, id) => client.inbound.replay(id))
    return { id: mail, status, routes }
  },
  ({ routes, ...record }) => ({ ...record, routes: routes.map(({ action }) => action).join(", ") }),
)

const forward = DataCommand.record(
  "forward",
  "Send a received mail on as it came",
  {
    id,
    to: Flag.String("to").pipe(
      Flag.withDescription("Address that the mail is sent on to; may be repeated"),
      Flag.between(1, Forward.MAX_TARGETS),
    ),
  },
  function* ({ id, to }) {
    return yield* WholeId.call(id, (client, id) => client.inbound.forward(id, to))
  },
)

export const inbound = Command.make("inbound").pipe(
  Command.withDescription("Mail that came in for your domains"),
  Command.withSubcommands([list, get, raw, replay, forward, remove, inboundRoutes]),
  Command.provide(ApiClient.layer),
)
