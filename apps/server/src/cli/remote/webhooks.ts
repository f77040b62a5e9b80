import type { Waybill } from "@waybill/client/Waybill"
import * as WebhookType from "@waybill/domain/webhook/WebhookType"
import { shownDeliveryStatus } from "@waybill/domain/webhook/shownDeliveryStatus"
import { shownWebhookStatus } from "@waybill/domain/webhook/shownWebhookStatus"
import * as WebhookFormat from "@waybill/domain/webhook/WebhookFormat"
import { Effect, Option } from "effect"
import { Argument, CliError, Command, Flag } from "effect/cli"
import * as Options from "../Options.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Output from "../Output.ts"
import * as OutputStyle from "../OutputStyle.ts"
import { ApiClient, call, firstOf } from "./ApiClient.ts"
import * as Flags from "./Flags.ts"
import * as WholeId from "./WholeId.ts"
import * as ApiCommand from "./ApiCommand.ts"

const COLUMNS = ["id", "url", "state", "last_answer", "events"]
const DELIVERY_COLUMNS = [
  "id",
  "created_at",
  "event_type",
  "status",
  "last_status",
  "attempts",
  "next_attempt_at",
  "last_answer",
]
const ATTEMPT_COLUMNS = ["at", "status", "duration_ms", "answer"]

const id = Options.argument("id", "Webhook id")
const events = Flag.String("event").pipe(
  Flag.withDescription("Event type to receive, or * for all; repeat for several"),
  Flag.between(0, WebhookType.WebhookType.literals.length),
  Flag.mapEffect((types) => {
    const value = types.find((type) => type !== "*" && !WebhookType.isWebhookType(type))
    return value === undefined
      ? Effect.succeed(types)
      : new CliError.InvalidValue({ option: "event", value, expected: Flags.knownTypes(value), kind: "flag" })
  }),
)

const list = DataCommand.list(
  {},
  COLUMNS,
  function* () {
    const { data } = yield* call((client) => client.webhooks.list())
    return data.map((webhook) => ({ ...webhook, state: shownWebhookStatus(webhook), last_answer: answerOf(webhook) }))
  },
  undefined,
  "No webhooks yet. `waybill webhooks add URL` adds one.",
)

type Listed = Awaited<ReturnType<Waybill["webhooks"]["list"]>>["data"][number]

const answerOf = ({ last_call }: Listed): string | null =>
  last_call === null ? null : (last_call.status?.toString() ?? last_call.error)

const add = DataCommand.command(
  {
    url: Options.argument("url", "Address that is called, with https"),
    events,
    description: Options.text("description", "Optional description"),
    format: Flag.Literals("format", WebhookFormat.Format.literals).pipe(
      Flag.withDescription("Payload of the calls"),
      Flag.withDefault("waybill"),
    ),
  },
  function* ({ description, events, format, json, url }) {
    const types = events.length === 0 ? ["*"] : events
    const webhook = yield* call((client) =>
      client.webhooks.create({ url, events: types as never, format, ...Flags.present({ description }) }),
    )
    yield* Output.printOne(webhook, { json })
    if (!json) yield* Output.say("The secret verifies calls. It is not shown again.")
  },
)

const get = ApiCommand.record({ id }, ({ webhooks }, { id }) => webhooks.get(id))
const enable = ApiCommand.record({ id }, ({ webhooks }, { id }) => webhooks.update(id, { enabled: true }))
const disable = ApiCommand.record({ id }, ({ webhooks }, { id }) => webhooks.update(id, { enabled: false }))
const remove = ApiCommand.record({ id }, ({ webhooks }, { id }) => webhooks.remove(id))

const rotateSecret = ApiCommand.record({ id }, async ({ webhooks }, { id }) => ({
  id,
  secret: (await webhooks.rotateSecret(id)).secret,
}))

const test = DataCommand.command({ id }, function* ({ id, json }) {
  const { id: delivery, status } = yield* call((client) => client.webhooks.test(id))
  yield* Output.printOne({ id: delivery, webhook_id: id, status }, { json })
  if (!json) yield* Output.say(`\`waybill webhooks deliveries ${id}\` shows the answer.`)
})

/** Calls the API with a delivery of a webhook, of whose id the begin is enough. */
const deliveryOf = <A>(webhook: string, text: string, request: (client: Waybill, id: string) => Promise<A>) =>
  WholeId.call(text, request, (client, query) => client.webhooks.deliveries(webhook, query))

const deliveries = DataCommand.command(
  {
    id,
    delivery: Options.argument("delivery", "Id of one delivery, to show its request and every attempt").pipe(
      Argument.optional,
    ),
    email: Options.text("email", "Only those of one email, by its id"),
    limit: Flags.limit,
  },
  function* ({ delivery, email, id, json, limit }) {
    if (Option.isSome(delivery)) {
      const { history, ...record } = yield* deliveryOf(id, delivery.value, (client, delivery) =>
        client.webhooks.delivery(id, delivery),
      )
      if (json || !(yield* OutputStyle.isTerminal)) return yield* Output.printOne({ ...record, history }, { json })
      yield* Output.printOne({ ...record, status: shownDeliveryStatus(record) }, { json })
      if (history.length === 0) return
      yield* Output.say("")
      const attempts = history.map((call) => ({ ...call, answer: call.error ?? call.response_body }))
      return yield* Output.print(attempts, { json, columns: ATTEMPT_COLUMNS })
    }
    const email_id = Option.isNone(email) ? email : Option.some(yield* WholeId.find(email.value))
    const { more, rows } = yield* firstOf(
      (client) => client.webhooks.allDeliveries(id, Flags.present({ email_id })),
      limit,
    )
    const shown = json ? rows : rows.map((row) => ({ ...row, status: shownDeliveryStatus(row) }))
    yield* Output.printFirst({ rows: shown, more }, { json, columns: DELIVERY_COLUMNS })
  },
)

const replay = DataCommand.record(
  {
    id,
    delivery: Options.argument("delivery", "Id of the delivery"),
  },
  function* ({ delivery, id }) {
    const replayed = yield* deliveryOf(id, delivery, (client, delivery) => client.webhooks.replayDelivery(id, delivery))
    return { id: replayed.id, webhook_id: id, status: replayed.status }
  },
)

export const webhooks = DataCommand.group({
  list: ["List webhooks", list],
  get: ["Show a webhook", get],
  add: ["Add a webhook and show its signing secret once; it receives all events by default", add],
  enable: ["Call a webhook again", enable],
  disable: ["Stop calling a webhook", disable],
  remove: ["Delete a webhook", remove],
  "rotate-secret": ["Make a new signing secret; the old one signs for another 24 hours", rotateSecret],
  test: ["Send a signed test event to a webhook", test],
  deliveries: ["List the deliveries of a webhook, newest first, or show one", deliveries],
  replay: ["Send a delivery again, with the same event id", replay],
}).with(Command.provide(ApiClient.layer))
