import { WebhookType } from "@waybill/domain/webhook/PublicType"
import * as WebhookFormat from "@waybill/domain/webhook/WebhookFormat"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as Output from "../Output.ts"
import { ApiClient, call, firstOf } from "./ApiClient.ts"
import * as Flags from "./Flags.ts"

const COLUMNS = ["id", "url", "events", "format", "enabled", "disabled_reason"]
const DELIVERY_COLUMNS = ["id", "created_at", "event_type", "status", "attempts", "next_attempt_at"]

const id = Argument.String("id").pipe(Argument.withDescription("Webhook id"))
const events = Flag.String("event").pipe(
  Flag.withDescription("Event type to receive, or * for all; repeat for several"),
  Flag.between(0, WebhookType.literals.length),
)

const list = Command.make(
  "list",
  { json: Output.json },
  Effect.fn(function* ({ json }) {
    const { data } = yield* call((client) => client.webhooks.list())
    yield* Output.print(
      data.map((webhook) => ({ ...webhook })),
      { json, columns: COLUMNS },
    )
  }),
).pipe(Command.withDescription("List webhooks"))

const add = Command.make(
  "add",
  {
    url: Argument.String("url").pipe(Argument.withDescription("Address that is called, with https")),
    events,
    description: Flag.String("description").pipe(Flag.withDescription("Optional description"), Flag.optional),
    format: Flag.Literals("format", WebhookFormat.Format.literals).pipe(
      Flag.withDescription("Payload of the calls"),
      Flag.withDefault("waybill"),
    ),
    json: Output.json,
  },
  Effect.fn(function* ({ description, events, format, json, url }) {
    const types = events.length === 0 ? ["*"] : events
    const webhook = yield* call((client) =>
      client.webhooks.create({ url, events: types as never, format, ...Flags.present({ description }) }),
    )
    yield* Output.printOne({ ...webhook }, { json })
    if (!json) yield* Output.say("The secret verifies calls. It is not shown again.")
  }),
).pipe(Command.withDescription("Add a webhook and show its signing secret once; it receives all events by default"))

const setEnabled = (enabled: boolean) =>
  Effect.fn(function* ({ id, json }: { readonly id: string; readonly json: boolean }) {
    yield* Output.printOne({ ...(yield* call((client) => client.webhooks.update(id, { enabled }))) }, { json })
  })

const enable = Command.make("enable", { id, json: Output.json }, setEnabled(true)).pipe(
  Command.withDescription("Call a webhook again"),
)
const disable = Command.make("disable", { id, json: Output.json }, setEnabled(false)).pipe(
  Command.withDescription("Stop calling a webhook"),
)

const remove = Command.make(
  "remove",
  { id, json: Output.json },
  Effect.fn(function* ({ id, json }) {
    yield* Output.printOne({ ...(yield* call((client) => client.webhooks.remove(id))) }, { json })
  }),
).pipe(Command.withDescription("Delete a webhook"))

const rotateSecret = Command.make(
  "rotate-secret",
  { id, json: Output.json },
  Effect.fn(function* ({ id, json }) {
    const { secret } = yield* call((client) => client.webhooks.rotateSecret(id))
    yield* Output.printOne({ id, secret }, { json })
  }),
).pipe(Command.withDescription("Make a new signing secret; the old one signs for another 24 hours"))

const test = Command.make(
  "test",
  { id, json: Output.json },
  Effect.fn(function* ({ id, json }) {
    const { id: delivery, status } = yield* call((client) => client.webhooks.test(id))
    yield* Output.printOne({ id: delivery, webhook_id: id, status }, { json })
    if (!json) yield* Output.say(`\`waybill webhooks deliveries ${id}\` shows the answer.`)
  }),
).pipe(Command.withDescription("Send a signed test event to a webhook"))

const deliveries = Command.make(
  "deliveries",
  {
    id,
    delivery: Argument.String("delivery").pipe(
      Argument.withDescription("Id of one delivery, to show its request and every attempt"),
      Argument.optional,
    ),
    limit: Flags.limit,
    json: Output.json,
  },
  Effect.fn(function* ({ delivery, id, json, limit }) {
    if (Option.isSome(delivery))
      return yield* Output.printOne(
        { ...(yield* call((client) => client.webhooks.delivery(id, delivery.value))) },
        { json },
      )
    yield* Output.print(yield* firstOf((client) => client.webhooks.allDeliveries(id), limit), {
      json,
      columns: DELIVERY_COLUMNS,
    })
  }),
).pipe(Command.withDescription("List the deliveries of a webhook, newest first, or show one"))

const replay = Command.make(
  "replay",
  {
    id,
    delivery: Argument.String("delivery").pipe(Argument.withDescription("Id of the delivery")),
    json: Output.json,
  },
  Effect.fn(function* ({ delivery, id, json }) {
    const { status } = yield* call((client) => client.webhooks.replayDelivery(id, delivery))
    yield* Output.printOne({ id: delivery, webhook_id: id, status }, { json })
  }),
).pipe(Command.withDescription("Send a delivery again, with the same event id"))

export const webhooks = Command.make("webhooks").pipe(
  Command.withDescription("Webhooks of the account"),
  Command.withSubcommands([list, add, enable, disable, remove, rotateSecret, test, deliveries, replay]),
  Command.provide(ApiClient.layer),
)
