import type * as Aggregate from "@waybill/domain/stream/Aggregate"
import * as Domain from "@waybill/domain/domain/Domain"
import type { DomainName } from "@waybill/domain/domain/DomainName"
import * as Email from "@waybill/domain/email/Email"
import * as Id from "@waybill/domain/values/Id"
import * as Recipient from "@waybill/domain/email/Recipient"
import type { Refusal } from "@waybill/domain/values/Refusal"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as DkimKeys from "@waybill/mail/dkim/DkimKey"
import * as RelayTransport from "@waybill/mail/transport/RelayTransport"
import type { Transport } from "@waybill/mail/transport/Transport"
import * as Transports from "../../../apps/server/src/worker/delivery/Transports.ts"
import * as Worker from "../../../apps/server/src/worker/Worker.ts"
import * as Content from "@waybill/store/content/Content"
import * as StoreDatabase from "@waybill/store/postgres/Database"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as InstanceKey from "@waybill/store/secrets/InstanceKey"
import { Secrets } from "@waybill/store/secrets/Secrets"
import { randomBytes } from "node:crypto"
import { Clock, Duration, Effect, Layer, Option, Redacted, Result } from "effect"
import { id, queued } from "../history.ts"
import type { SmtpServer } from "./smtpServer.ts"

/** The same in every process of a test. */
export const INSTANCE_KEY = Buffer.alloc(32, 7).toString("base64")
export const RETURN_PATH = { secretKey: Buffer.alloc(32, 9), domain: "bounces.waybill.test" }

/** What a node has, apart from its worker. */
export const store = (url: Redacted.Redacted, connections = 10) =>
  Secrets.layer.pipe(
    Layer.provide(InstanceKey.InstanceKey.layer({ file: "/nowhere", text: Option.some(Redacted.make(INSTANCE_KEY)) })),
    Layer.provideMerge(EventStore.layer()),
    Layer.provideMerge(StoreDatabase.layer({ url, connections })),
  )

export const relay = (server: Pick<SmtpServer, "host" | "port">, connections = 10): Layer.Layer<Transport> =>
  RelayTransport.layer(
    {
      host: server.host,
      port: server.port,
      tls: { mode: "none", verify: false },
      login: undefined,
      confirm: "none",
      connections,
    },
    { name: "waybill.test" },
  )

/** Retries after a moment, for tests that have none to lose. */
export const soon = (attempt: number): Duration.Duration | "expired" => (attempt >= 4 ? "expired" : Duration.millis(50))

export const worker = (
  url: Redacted.Redacted,
  layers: { readonly capture?: Layer.Layer<Transport>; readonly relay?: Layer.Layer<Transport> },
  over: Partial<Worker.Options<never, never, never>["delivery"]> = {},
) =>
  Worker.layer({ url, delivery: { returnPath: RETURN_PATH, ...over } }).pipe(
    Layer.provide(Transports.Transports.layer(layers.relay === undefined ? "capture" : "relay", layers)),
  )

export interface Sender {
  readonly account_id: Id.AccountId
  readonly domain_id: Id.DomainId
  readonly name: string
  /** What its DKIM record says after `p=`. */
  readonly public_key: string
}

/** A verified domain with a key of its own. */
export const sender = Effect.fnUntraced(function* (
  name = "acme.test",
  account_id: Id.AccountId = id("AccountId"),
  sealed = true,
): Effect.fn.Return<Sender, never, EventStore | Secrets> {
  const domain_id = id("DomainId")
  const now = Timestamp.fromMillis(yield* Clock.currentTimeMillis)
  const pair = yield* DkimKeys.generateRsa
  const dkim = {
    selector: "wb1",
    algorithm: "rsa" as const,
    public_key: pair.record.replace(/^.*p=/u, ""),
    key_ref: "dkim:wb1",
  }
  const secrets = yield* Secrets
  if (sealed) yield* secrets.seal({ account_id, id: domain_id, purpose: dkim.key_ref }, Redacted.value(pair.privateKey))
  const events = yield* EventStore
  const added = Domain.add({
    now,
    domainId: domain_id,
    name: name as DomainName,
    dkim,
    transport: null,
    taken: false,
    others: 0,
    captured: true,
  })
  yield* Effect.orDie(events.commit(Domain, { account_id, stream_id: domain_id }, added))
  return { account_id, domain_id, name, public_key: dkim.public_key }
})

/** A key of its own beside that, which DNS has not shown yet; the record that is to be published. */
export const ed25519 = Effect.fnUntraced(function* ({ account_id, domain_id, name }: Sender, selector = "wbe1") {
  const { algorithm, privateKey, record } = yield* DkimKeys.generateEd25519
  const dkim = { selector, algorithm, public_key: record.replace(/^.*p=/u, ""), key_ref: `dkim:${selector}` }
  yield* (yield* Secrets).seal({ account_id, id: domain_id, purpose: dkim.key_ref }, Redacted.value(privateKey))
  const at = Timestamp.fromMillis(yield* Clock.currentTimeMillis)
  const { commit } = yield* EventStore
  const decide: Aggregate.Decide<Domain.State, Domain.Event, Refusal> =
    selector === "wbe1" ? Domain.addEd25519(at, dkim) : Domain.rotateEd25519(at, dkim)
  yield* Effect.orDie(commit(Domain, { account_id, stream_id: domain_id }, decide))
  return { name: `${selector}._domainkey.${name}`, zone: { TXT: [record] } }
})

const BODY = Content.encodeBody({ html: null, text: "Thank you.\n" })

/** Accepts a message as the API does: the fact and its body in one commit. */
export const accept = Effect.fnUntraced(function* (
  from: Sender,
  over: Readonly<Record<string, unknown>> = {},
  body = BODY,
) {
  const millis = yield* Clock.currentTimeMillis
  const email_id = Id.make("EmailId", millis, randomBytes(10))
  const now = Timestamp.fromMillis(millis)
  const event = queued(email_id, {
    from: { address: `hi@${from.name}` },
    domain: from.name,
    domain_id: from.domain_id,
    content: { sha256: body.sha256, has_html: false, has_text: true, attachments: [] },
    created_at: now,
    ...over,
  })
  const { transact } = yield* EventStore
  yield* Effect.orDie(
    transact({
      account_id: from.account_id,
      streams: [{ aggregate: Email, id: email_id, fresh: true }],
      decide: () =>
        Result.succeed({
          append: [{ aggregate: Email, id: email_id, events: [event] }],
          content: [{ account_id: from.account_id, ...body, expires_on: "2999-01-01" }],
          answer: undefined,
        }),
    }),
  )
  return { account_id: from.account_id, stream_id: email_id }
})

export interface Ref {
  readonly account_id: Id.AccountId
  readonly stream_id: Id.EmailId
}

export const history = (ref: Ref) => Effect.flatMap(EventStore, ({ load }) => load(Email, ref))

/** The names of what happened to a message, in order. */
export const timeline = (ref: Ref) => Effect.map(history(ref), ({ history }) => history.map(({ event }) => event._tag))

/** Waits for what the worker does by itself; a condition that never holds fails the test. */
export const until = <A, R>(
  look: Effect.Effect<A, never, R>,
  holds: (found: A) => boolean,
  within: Duration.Duration = Duration.seconds(45),
): Effect.Effect<A, never, R> =>
  Effect.gen(function* () {
    const end = (yield* Clock.currentTimeMillis) + Duration.toMillis(within)
    while (true) {
      const found = yield* look
      if (holds(found)) return found
      if ((yield* Clock.currentTimeMillis) >= end) {
        return yield* Effect.die(new Error(`it never came to be: ${JSON.stringify(found).slice(0, 500)}`))
      }
      yield* Effect.sleep("10 millis")
    }
  })

export const settled = (ref: Ref, within?: Duration.Duration) =>
  until(history(ref), ({ state }) => state._tag === "Message" && !state.recipients.some(Recipient.isUnfinished), within)
