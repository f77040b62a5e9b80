import type { EmailTracking, Waybill } from "@waybill/client/Waybill"
import * as WebhookType from "@waybill/domain/webhook/WebhookType"
import { Duration, Effect, Option } from "effect"
import { Argument, CliError, Command } from "effect/cli"
import { randomBytes } from "node:crypto"
import { CommandRefused } from "../../../process/CommandRefused.ts"
import * as DataCommand from "../../DataCommand.ts"
import * as Options from "../../Options.ts"
import * as Output from "../../Output.ts"
import { ApiClient, attempt } from "../ApiClient.ts"
import * as Flags from "../Flags.ts"

/** Domain of made-up addresses, which exists nowhere (RFC 2606). */
const NOWHERE = "trigger.example"
const AN_HOUR_MS = 3_600_000
/** A time after all events, so that a list from then on is empty and says where the history ends. */
const NEVER = "9999-01-01T00:00:00.000Z"
/** Longest wait of one request for the event, and how often it is requested. */
const WAIT_S = 10
const MAX_WAITS = 3

type Type = WebhookType.WebhookType

/** Recipients of test mail whose outcome is known before. */
const RECIPIENTS: Partial<Record<Type, string>> = {
  "email.queued": "delivered",
  "email.sent": "sent",
  "email.delivered": "delivered",
  "email.delivery_delayed": "deferred",
  "email.bounced": "bounced",
  "email.complained": "complained",
  "email.failed": "failed",
  "email.suppressed": "suppressed",
  "email.canceled": "delivered",
  "email.opened": "delivered",
  "email.clicked": "delivered",
}

/** Events that no request can cause, each with what to do. */
const IMPOSSIBLE: Partial<Record<Type, string>> = {
  "domain.degraded": "it depends on DNS",
  "domain.failed": "it depends on DNS",
  "webhook.disabled": "an endpoint must answer 410 or fail for days",
}

/** Events of visits: how they are tracked, and where the HTML has the link. */
const VISITED: Partial<Record<Type, { readonly tracking: EmailTracking; readonly link: RegExp }>> = {
  "email.opened": { tracking: { opens: true }, link: /<img [^>]*src=["']([^"']+)/u },
  "email.clicked": { tracking: { clicks: true }, link: /<a [^>]*href=["']([^"']+)/u },
}
const TRACKED_HTML = `<p>A test email of <code>waybill trigger</code>: <a href="https://${NOWHERE}/">a link</a></p>`

const NEEDS_SANDBOX =
  "A made-up domain is verified at once only where TRANSPORT is sandbox; elsewhere it depends on DNS. Use `waybill domains verify`."

const OTHERWISE = "`waybill webhooks test ID` sends a signed webhook.test to an endpoint."

const type = Options.argument("type", "Event type, such as email.bounced").pipe(
  Argument.mapEffect((value) =>
    WebhookType.isWebhookType(value)
      ? Effect.succeed(value)
      : Effect.fail(
          new CliError.InvalidValue({ option: "type", value, expected: Flags.knownTypes(value), kind: "argument" }),
        ),
  ),
)

const from = Options.text("from", "Sender of the test mail; the first domain of the account if left out")

export const trigger = DataCommand.command({ type, from }, function* ({ from, json, type }) {
  const { client } = yield* ApiClient
  const start = (yield* attempt(() => client.events.list({ created_after: NEVER, limit: 1 }))).next_position
  const recipient = RECIPIENTS[type]
  const id = recipient === undefined ? yield* change(client, type) : yield* mail(client, type, recipient, from)
  const event = yield* awaitEvent(client, type, id, start)
  yield* json ? Output.printJson(event, 2) : Output.say(`${event.type}  ${event.stream_id}  ${event.id}`)
})
  .with(Command.withExamples([{ command: "waybill trigger email.bounced" }]))
  .with(Command.provide(ApiClient.layer))
  // Provided last, so it runs first.
  .with(Command.provideEffectDiscard(({ type }) => requirePossible(type)))

const requirePossible = (type: Type): Effect.Effect<void, CommandRefused> => {
  const reason = IMPOSSIBLE[type]
  return reason === undefined
    ? Effect.void
    : Effect.fail(new CommandRefused({ message: `${type} cannot be triggered: ${reason}. ${OTHERWISE}` }))
}

/** Sends test mail with the outcome, and returns its id. */
const mail = Effect.fnUntraced(function* (client: Waybill, type: Type, recipient: string, from: Option.Option<string>) {
  yield* requireTestMail(client)
  const visited = VISITED[type]
  const to = `${recipient}+${unique()}@${NOWHERE}`
  const sender = Option.isSome(from) ? from.value : `trigger@${yield* firstDomain(client)}`
  const later = type === "email.canceled" ? { scheduled_at: new Date(Date.now() + AN_HOUR_MS) } : {}
  const { id } = yield* attempt(() =>
    client.emails.send({
      from: sender,
      to,
      subject: `waybill trigger ${type}`,
      text: "A test email of `waybill trigger`.",
      ...(visited === undefined ? {} : { html: TRACKED_HTML, tracking: visited.tracking }),
      ...later,
    }),
  )
  if (visited !== undefined) yield* visit(client, to, visited.link)
  if (type === "email.canceled") yield* attempt(() => client.emails.cancel(id))
  return id
})

/** Requests the tracked link of a delivered mail, as its reader would. */
const visit = Effect.fnUntraced(function* (client: Waybill, to: string, link: RegExp) {
  const html = (yield* attempt(() => client.sandbox.waitFor(to, WAIT_S)))?.html ?? ""
  const [, url = ""] = link.exec(html) ?? []
  const visiting = Effect.tryPromise((signal) =>
    fetch(url.replaceAll("&amp;", "&"), { redirect: "manual", signal }).then((response) => response.body?.cancel()),
  ).pipe(Effect.timeout(Duration.seconds(WAIT_S)))
  yield* Effect.mapError(
    visiting,
    () =>
      new CommandRefused({
        message: `The tracked link ${url} does not answer. TRACKING_URL must lead to the instance.`,
      }),
  )
})

/** Fails unless mail of the key stays in this service: by a test key, or because the instance captures all mail. */
const requireTestMail = Effect.fnUntraced(function* (client: Waybill) {
  const isSandbox = yield* attempt(() => client.sandbox.list({ limit: 1 })).pipe(
    Effect.as(true),
    Effect.catch(() => Effect.succeed(false)),
  )
  if (!isSandbox)
    return yield* new CommandRefused({
      message: "Mail of this key is really sent. Use a test key (wb_test_…): `waybill login`, or WAYBILL_KEY.",
    })
})

/** Returns the name of a domain to send from: not one that another `waybill trigger` has added and removes again. */
const firstDomain = Effect.fnUntraced(function* (client: Waybill) {
  const { data } = yield* attempt(() => client.domains.list())
  const own = data.filter(({ name }) => !name.endsWith(`.${NOWHERE}`))
  return (own.find(({ status }) => status === "verified") ?? own[0])?.name ?? NOWHERE
})

/** Makes a change whose object is removed at once, and returns the id of its history. */
const change = Effect.fnUntraced(function* (client: Waybill, type: Type) {
  const name = `${unique()}.${NOWHERE}`
  switch (type.split(".")[0]) {
    case "domain": {
      const { id, status } = yield* attempt(() => client.domains.add(name))
      yield* attempt(() => client.domains.remove(id))
      if (type === "domain.verified" && status !== "verified")
        return yield* new CommandRefused({ message: NEEDS_SANDBOX })
      return id
    }
    case "email": {
      const to = `trigger@${yield* firstDomain(client)}`
      const text = "A test email of `waybill trigger`."
      const { id } = yield* attempt(() => client.inbound.test({ from: `${unique()}@${NOWHERE}`, to, text }))
      return id
    }
    case "suppression": {
      const email = `${unique()}@${NOWHERE}`
      yield* attempt(() => client.suppressions.add({ email }))
      yield* attempt(() => client.suppressions.remove(email))
      return email
    }
    default: {
      const { id } = yield* attempt(() => client.apiKeys.create({ name: `trigger ${name}`, scopes: ["email:send"] }))
      yield* attempt(() => client.apiKeys.revoke(id))
      return id
    }
  }
})

/** Waits for the event in the history. */
const awaitEvent = Effect.fnUntraced(function* (client: Waybill, type: Type, id: string, start: string) {
  let after_position = start
  for (let waits = 0; waits < MAX_WAITS;) {
    const query = { after_position, types: [type], wait: `${WAIT_S}s` }
    const { data, next_position } = yield* attempt(() => client.events.list(query))
    const event = data.find(({ stream_id }) => stream_id === id)
    if (event !== undefined) return event
    if (data.length === 0) waits++
    after_position = next_position
  }
  return yield* new CommandRefused({ message: `${type} of ${id} did not happen within ${MAX_WAITS * WAIT_S} s.` })
})

const unique = (): string => randomBytes(4).toString("hex")
