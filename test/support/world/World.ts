import * as StoredContent from "@waybill/store/content/StoredContent"
import { rowsOf } from "@waybill/store/log/BatchTable"
import * as Account from "@waybill/domain/account/Account"
import type * as Plan from "@waybill/domain/account/Plan"
import type * as Scope from "@waybill/domain/account/Scope"
import type * as Aggregate from "@waybill/domain/values/Aggregate"
import * as Domain from "@waybill/domain/domain/Domain"
import type * as DomainName from "@waybill/domain/values/DomainName"
import * as Email from "@waybill/domain/email/Email"
import * as Id from "@waybill/domain/values/Id"
import * as Recipient from "@waybill/domain/email/Recipient"
import type * as Network from "@waybill/domain/values/Network"
import type { Refusal } from "@waybill/domain/values/Refusal"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as DkimKeys from "@waybill/mail/dkim/DkimKey"
import * as SiteRules from "@waybill/mail/site/SiteRules"
import * as RelayTransport from "@waybill/mail/transport/RelayTransport"
import type { Transport } from "@waybill/mail/transport/Transport"
import * as Placement from "@waybill/store/cells/Placement"
import * as Content from "@waybill/store/content/Content"
import * as StoreDatabase from "@waybill/store/database/Database"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as InstanceKey from "@waybill/store/secrets/InstanceKey"
import * as SealedAddresses from "@waybill/store/secrets/SealedAddresses"
import { Secrets } from "@waybill/store/secrets/Secrets"
import { randomBytes } from "node:crypto"
import { Clock, Duration, Effect, Layer, Option, Redacted, Result } from "effect"
import { inspect } from "node:util"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import * as NewApiKeys from "../../../apps/server/src/operate/NewApiKeys.ts"
import * as NewIds from "../../../apps/server/src/process/NewIds.ts"
import { HandedOver } from "../../../apps/server/src/worker/delivery/HandedOver.ts"
import * as Transports from "../../../apps/server/src/worker/delivery/Transports.ts"
import * as Tasks from "../../../apps/server/src/boot/service/Tasks.ts"
import * as Worker from "../../../apps/server/src/boot/service/Worker.ts"
import { id, queued } from "../history.ts"
import type { SmtpServer } from "../mail/smtpServer.ts"
import * as Database from "../postgres/Database.ts"
import { NOWHERE } from "../nowhere.ts"
import { withTestCell } from "../cells/testCell.ts"

/** Instance key of every process of a test. */
export const INSTANCE_KEY = Buffer.alloc(32, 7).toString("base64")
export const RETURN_PATH = { secretKey: Buffer.alloc(32, 9), domain: "bounces.waybill.test" }

/** Services of a node on a database, without its worker. */
export const services = (url: Redacted.Redacted, connections = 10) =>
  Secrets.layer.pipe(
    Layer.provideMerge(EventStore.layer()),
    Layer.provideMerge(Database.alone),
    Layer.provideMerge(withTestCell(StoreDatabase.layer({ url, connections }))),
    Layer.provideMerge(SealedAddresses.layer),
    Layer.provide(InstanceKey.InstanceKey.layer({ file: NOWHERE, text: Option.some(Redacted.make(INSTANCE_KEY)) })),
  )

/** Services of a node, on a database of their own. */
export const layerOn = <E>(fresh: Layer.Layer<Database.Fresh, E>) =>
  Layer.unwrap(Effect.map(Database.Fresh, ({ url }) => services(url))).pipe(Layer.provideMerge(fresh))

export const layer = layerOn(Layer.effect(Database.Fresh, Database.freshDatabase))

/** Transport that relays to a test server. */
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

/** Retry schedule with short pauses: three retries, then the message expires. */
export const retrySoon = (attempt: number): Duration.Duration | "expired" =>
  attempt >= 4 ? "expired" : Duration.millis(50)

/** Rules and notes of a worker without settings and without hooks of providers. */
export const delivering = Layer.merge(
  Layer.succeed(SiteRules.CurrentRules, SiteRules.RULES),
  Layer.succeed(HandedOver, () => Effect.void),
)

/** Worker on a database, with the transports that a test gives it. */
export const worker = (
  url: Redacted.Redacted,
  layers: { readonly capture?: Layer.Layer<Transport>; readonly relay?: Layer.Layer<Transport> },
  over: Partial<Worker.Options<never, never, never>["delivery"]> = {},
) =>
  Worker.layer({ url, delivery: { returnPath: RETURN_PATH, ...over }, tasks: Tasks.withoutSettings }).pipe(
    Layer.provide([Transports.Transports.layer(layers.relay === undefined ? "capture" : "relay", layers), delivering]),
  )

export interface Tenant {
  readonly plan?: Plan.Plan
  readonly limits?: Partial<Account.Limits>
}

/** Creates an account, with the limits granted to it. */
export const account = (tenant: Tenant = {}) =>
  Effect.flatMap(NewIds.newId("AccountId"), (account_id) => create(account_id, tenant))

/** Creates an account in a cell. */
export const accountIn = Effect.fnUntraced(function* (cell: string, tenant: Tenant = {}) {
  const account_id = yield* NewIds.newId("AccountId")
  yield* Placement.assign(account_id, cell)
  return yield* create(account_id, tenant)
})

const create = Effect.fnUntraced(function* (account_id: Id.AccountId, { limits = {}, plan = "business" }: Tenant) {
  const { commit } = yield* EventStore
  const ref = { account_id, stream_id: account_id }
  yield* Effect.orDie(commit(Account, ref, Account.create(yield* NewIds.now, account_id, "Acme", plan)))
  if (Object.keys(limits).length > 0) {
    const granted = { ...Account.NONE_GRANTED, ...limits }
    yield* Effect.orDie(commit(Account, ref, Account.changeLimits(yield* NewIds.now, granted)))
  }
  return account_id
})

export type KeyOptions = Partial<{
  readonly scopes: ReadonlyArray<Scope.Scope>
  readonly domain: string | null
  readonly allowed_ips: ReadonlyArray<string>
  readonly expires_at: string | null
  readonly mode: "test"
}>

/** Creates an API key of an account; without options it may do everything. */
export const key = (
  account_id: Id.AccountId,
  { allowed_ips = [], domain = null, expires_at = null, mode, scopes = ["admin"] }: KeyOptions = {},
) =>
  NewApiKeys.createApiKey(account_id, null, {
    name: "test",
    ...(mode === undefined ? {} : { mode }),
    scopes: [...scopes],
    domain: domain as DomainName.DomainName | null,
    allowed_ips: allowed_ips as ReadonlyArray<Network.Network>,
    expires_at: expires_at as Timestamp.Timestamp | null,
  }).pipe(
    Effect.map(({ keyId, secret }) => ({ id: keyId, secret })),
    Effect.orDie,
  )

export interface SendingDomain {
  readonly account_id: Id.AccountId
  readonly domain_id: Id.DomainId
  readonly name: string
  /** Value of `p=` in the domain's DKIM record. */
  readonly public_key: string
}

/** Creates a verified domain with a DKIM key; `sealed` false leaves out the private key. */
export const verifiedDomain = Effect.fnUntraced(function* (
  name = "acme.test",
  account_id: Id.AccountId = id("AccountId"),
  sealed = true,
): Effect.fn.Return<SendingDomain, StoreUnavailable, EventStore | Secrets> {
  const domain_id = id("DomainId")
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
    now: yield* NewIds.now,
    domainId: domain_id,
    name: name as DomainName.DomainName,
    dkim,
    transport: null,
    taken: false,
    others: 0,
    captured: true,
  })
  yield* Effect.orDie(events.commit(Domain, { account_id, stream_id: domain_id }, added))
  return { account_id, domain_id, name, public_key: dkim.public_key }
})

/** Adds an Ed25519 key that DNS does not show yet, and returns the record to publish. */
export const addEd25519Key = Effect.fnUntraced(function* (
  { account_id, domain_id, name }: SendingDomain,
  selector = "wbe1",
) {
  const { algorithm, privateKey, record } = yield* DkimKeys.generateEd25519
  const dkim = { selector, algorithm, public_key: record.replace(/^.*p=/u, ""), key_ref: `dkim:${selector}` }
  yield* (yield* Secrets).seal({ account_id, id: domain_id, purpose: dkim.key_ref }, Redacted.value(privateKey))
  const at = yield* NewIds.now
  const { commit } = yield* EventStore
  const decide: Aggregate.Decide<Domain.State, Domain.Event, Refusal> =
    selector === "wbe1" ? Domain.addEd25519(at, dkim) : Domain.rotateEd25519(at, dkim)
  yield* Effect.orDie(commit(Domain, { account_id, stream_id: domain_id }, decide))
  return { name: `${selector}._domainkey.${name}`, zone: { TXT: [record] } }
})

const BODY = Content.encodeBody({ html: null, text: "Thank you.\n" })

/** Accepts a message as the API does, with the event and the body in one commit. */
export const send = Effect.fnUntraced(function* (
  from: SendingDomain,
  over: Readonly<Record<string, unknown>> = {},
  body = BODY,
) {
  const millis = yield* Clock.currentTimeMillis
  const email_id = Id.make("EmailId", millis, randomBytes(10))
  const event = queued(email_id, {
    from: { address: `hi@${from.name}` },
    domain: from.name,
    domain_id: from.domain_id,
    content: { sha256: body.sha256, has_html: false, has_text: true, attachments: [] },
    created_at: Timestamp.fromMillis(millis),
    ...over,
  })
  const { transact } = yield* EventStore
  yield* Effect.orDie(
    transact({
      account_id: from.account_id,
      streams: [{ aggregate: Email, id: email_id, isNew: true }],
      decide: () =>
        Result.succeed({
          append: [{ aggregate: Email, id: email_id, events: [event] }],
          rows: [rowsOf(StoredContent.table, [{ account_id: from.account_id, ...body, expires_on: "2999-01-01" }])],
          answer: undefined,
        }),
    }),
  )
  return { account_id: from.account_id, stream_id: email_id }
})

export interface MessageRef {
  readonly account_id: Id.AccountId
  readonly stream_id: Id.EmailId
}

export const history = (ref: MessageRef) => Effect.flatMap(EventStore, ({ load }) => load(Email, ref))

/** Names of a message's events, in order. */
export const timeline = (ref: MessageRef) =>
  Effect.map(history(ref), ({ history }) => history.map(({ event }) => event._tag))

/** First and longest pause between two looks, and how much longer each is than the one before. */
const PAUSES = { first_ms: 10, growth: 1.15, longest_ms: 100 }

/**
 * Polls until a condition holds, and fails the test when it does not in time. Each pause is a share of the time waited, because
 * looks take processor time from what they wait for.
 */
export const until = <A, E, R>(
  poll: Effect.Effect<A, E, R>,
  holds: (value: A) => boolean,
  within: Duration.Duration = Duration.seconds(90),
): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const end = (yield* Clock.currentTimeMillis) + Duration.toMillis(within)
    for (let pause = PAUSES.first_ms; ; pause = Math.min(pause * PAUSES.growth, PAUSES.longest_ms)) {
      const value = yield* poll
      if (holds(value)) return value
      if ((yield* Clock.currentTimeMillis) >= end) {
        return yield* Effect.die(new Error(`timed out, last value: ${inspect(value).slice(0, 500)}`))
      }
      yield* Effect.sleep(Duration.millis(pause))
    }
  })

/** Waits until every recipient of a message has a final status. */
export const settled = (ref: MessageRef, within?: Duration.Duration) =>
  until(history(ref), ({ state }) => state._tag === "Message" && !state.recipients.some(Recipient.isUnfinished), within)
