import * as Forward from "@waybill/domain/inbound/Forward"
import { Data, Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as fs from "node:fs/promises"
import * as Output from "../Output.ts"
import { ApiClient, call, firstOf } from "./ApiClient.ts"
import * as Flags from "./Flags.ts"
import { inboundRoutes } from "./inboundRoutes.ts"

const COLUMNS = ["id", "created_at", "status", "from", "to", "subject"]

const id = Argument.String("id").pipe(Argument.withDescription("Id of a received mail, inb_…"))

const filter = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

const list = Command.make(
  "list",
  {
    to: filter("to", "Only to this address"),
    from: filter("from", "Only from this address"),
    q: filter("search", "Part of the subject or of an address"),
    domain: filter("domain", "Only for this domain"),
    status: Flag.Literals("status", ["received", "dropped", "rejected"]).pipe(
      Flag.withDescription("Only mail of which this became"),
      Flag.optional,
    ),
    created_after: Flags.time("since", "Only mail that came at or after"),
    created_before: Flags.time("until", "Only mail that came before"),
    limit: Flags.limit,
    json: Output.json,
  },
  Effect.fn(function* ({ json, limit, ...filters }) {
    const found = yield* firstOf((client) => client.inbound.all(Flags.present(filters)), limit)
    yield* Output.print(json ? found : found.map(shown), { json, columns: COLUMNS })
  }),
).pipe(Command.withDescription("List received mail, newest first"))

/** A row for people: the sender and the recipients as plain addresses. */
const shown = (mail: Readonly<Record<string, unknown>>) => {
  const { envelope, from } = mail as {
    readonly from: { readonly address: string } | null
    readonly envelope: { readonly to: ReadonlyArray<string> }
  }
  return { ...mail, from: from?.address ?? "", to: envelope.to.join(", ") }
}

const get = Command.make(
  "get",
  { id, json: Output.json },
  Effect.fn(function* ({ id, json }) {
    const mail = yield* call((client) => client.inbound.get(id))
    if (json) return yield* Output.printJson(mail, 2)
    const { attachments, headers: _, html: __, object: ___, stripped_text: ____, text, ...record } = mail
    yield* Output.printOne(shown({ ...record }), { json })
    if (attachments.length > 0) {
      yield* Output.say("")
      yield* Output.print(
        attachments.map((file) => ({ ...file })),
        { json, columns: ["id", "filename", "content_type", "size_bytes"] },
      )
    }
    if (text !== null) yield* Output.sayLines(`\n${text}`)
  }),
).pipe(Command.withDescription("Show a received mail and its text"))

class FileFailed extends Data.TaggedError("FileFailed")<{ readonly message: string }> {}

const raw = Command.make(
  "raw",
  {
    id,
    file: Argument.String("file").pipe(Argument.withDescription("File to write, such as mail.eml")),
    json: Output.json,
  },
  Effect.fn(function* ({ file, id, json }) {
    const bytes = yield* call((client) => client.inbound.raw(id))
    yield* Effect.tryPromise({
      try: () => fs.writeFile(file, new Uint8Array(bytes), { mode: 0o600 }),
      catch: (cause) =>
        new FileFailed({ message: `${file}: ${cause instanceof Error ? cause.message : String(cause)}` }),
    })
    yield* json
      ? Output.printJson({ file, size_bytes: bytes.byteLength })
      : Output.say(`${file} contains ${bytes.byteLength} bytes.`)
  }),
).pipe(Command.withDescription("Write a received mail as it came to a file"))

const remove = Command.make(
  "remove",
  { id, json: Output.json },
  Effect.fn(function* ({ id, json }) {
    yield* Output.printOne({ ...(yield* call((client) => client.inbound.remove(id))) }, { json })
  }),
).pipe(Command.withDescription("Delete a received mail with its content"))

const replay = Command.make(
  "replay",
  { id, json: Output.json },
  Effect.fn(function* ({ id, json }) {
    const { routes, status } = yield* call((client) => client.inbound.replay(id))
    yield* Output.printOne(
      { id, status, routes: json ? routes : routes.map(({ action }) => action).join(", ") },
      { json },
    )
  }),
).pipe(Command.withDescription("Apply the routes to a received mail again, and call its webhooks"))

const forward = Command.make(
  "forward",
  {
    id,
    to: Flag.String("to").pipe(
      Flag.withDescription("Address that the mail is sent on to; may be repeated"),
      Flag.between(1, Forward.MAX_TARGETS),
    ),
    json: Output.json,
  },
  Effect.fn(function* ({ id, json, to }) {
    yield* Output.printOne({ ...(yield* call((client) => client.inbound.forward(id, to))) }, { json })
  }),
).pipe(Command.withDescription("Send a received mail on as it came"))

export const inbound = Command.make("inbound").pipe(
  Command.withDescription("Mail that came in for your domains"),
  Command.withSubcommands([list, get, raw, replay, forward, remove, inboundRoutes]),
  Command.provide(ApiClient.layer),
)
