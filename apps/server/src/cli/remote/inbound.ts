import * as Forward from "@waybill/domain/inbound/Forward"
import { Effect } from "effect"
import { Command } from "effect/cli"
import * as fs from "node:fs/promises"
import { CommandRefused } from "../../process/CommandRefused.ts"
import * as Options from "../Options.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Output from "../Output.ts"
import { ApiClient } from "./ApiClient.ts"
import * as Flags from "./Flags.ts"
import { inboundRoutes } from "./inboundRoutes.ts"
import * as WholeId from "./WholeId.ts"
import * as ApiCommand from "./ApiCommand.ts"

const COLUMNS = ["created_at", "status", "from", "subject", "id", "to"]

const id = Options.argument("id", "Id of a received mail, inb_…, or a part as lists show it")

const list = ApiCommand.list(
  {
    to: Options.text("to", "Only to this address"),
    from: Options.text("from", "Only from this address"),
    q: Options.text("search", "Part of the subject or of an address"),
    domain: Options.text("domain", "Only for this domain"),
    status: Options.oneOf("status", ["received", "dropped", "rejected"], "Only mail of which this became"),
    created_after: Flags.time("since", "Only mail that came at or after"),
    created_before: Flags.time("until", "Only mail that came before"),
  },
  COLUMNS,
  "No received mail matches.",
  (client, filters) => client.inbound.all(filters),
  (mail) => shown({ ...mail }),
)

/** A row for people: the sender and the recipients as plain addresses. */
const shown = (mail: Readonly<Record<string, unknown>>) => {
  const { envelope, from } = mail as {
    readonly from: { readonly address: string } | null
    readonly envelope: { readonly to: ReadonlyArray<string> }
  }
  return { ...mail, from: from?.address ?? "", to: envelope.to.join(", ") }
}

const get = DataCommand.command({ id }, function* ({ id, json }) {
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
  {
    id,
    file: Options.argument("file", "File to write, such as mail.eml"),
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

const remove = ApiCommand.record({ id }, ({ inbound }, { id }) => inbound.remove(id))

const replay = ApiCommand.record(
  { id },
  async ({ inbound }, { id }) => {
    const { routes, status } = await inbound.replay(id)
    return { id, status, routes }
  },
  ({ routes, ...record }) => ({ ...record, routes: routes.map(({ action }) => action).join(", ") }),
)

const forward = ApiCommand.record(
  {
    id,
    to: Options.several("to", "Address that the mail is sent on to", Forward.MAX_TARGETS, 1),
  },
  ({ inbound }, { id, to }) => inbound.forward(id, to),
)

export const inbound = DataCommand.group({
  list: ["List received mail, newest first", list],
  get: ["Show a received mail and its text", get],
  raw: ["Write a received mail as it came to a file", raw],
  replay: ["Apply the routes to a received mail again, and call its webhooks", replay],
  forward: ["Send a received mail on as it came", forward],
  remove: ["Delete a received mail with its content", remove],
  routes: ["Rules for what happens to received mail", inboundRoutes],
}).with(Command.provide(ApiClient.layer))
