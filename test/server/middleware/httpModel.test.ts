import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import { Replay } from "@waybill/store/rebuild/versions/Replay"
import { Arbitrary, Effect, Layer, Schema } from "effect"
import { randomUUID } from "node:crypto"
import { assert, layer } from "../../support/effectTest.ts"
import { Fresh } from "../../support/postgres/Database.ts"
import { hoursAfterMiddle, layerFromMiddle, nextMillisecond } from "../../support/WallClock.ts"
import { type Answer, HttpWorld } from "../../support/world/HttpWorld.ts"
import { replayUrls } from "../../support/cells/testCell.ts"

/** What a customer knows of the service, kept in memory. */
interface Model {
  readonly domains: Set<string>
  readonly suppressed: Set<string>
  readonly emails: Array<{
    id: string
    from: string
    to: ReadonlyArray<string>
    canceled: boolean
    queued: Set<string>
  }>
  readonly keys: Array<{ id: string; secret: string; scope: string; domain: string | null; revoked: boolean }>
  used: number
}

const DOMAINS = ["acme.test", "beta.test", "gamma.test"]
const PEOPLE = ["ana@example.org", "bo@example.org", "cy@example.org", "Ana@EXAMPLE.org"]
const SCOPES = ["email:send", "email:logs:read", "domains:read"]

const upTo = (most: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: most }))
const person = upTo(PEOPLE.length - 1)
const domain = upTo(DOMAINS.length - 1)
const nth = upTo(5)

const Command = Schema.TaggedUnion({
  AddDomain: { domain },
  RemoveDomain: { domain },
  Suppress: { person },
  Unsuppress: { person },
  Send: { domain, to: Schema.Array(person).check(Schema.isMinLength(1), Schema.isMaxLength(4)), later: Schema.Boolean },
  SendTwice: { domain, person },
  SendBatch: { domain, person, count: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 })) },
  SendWithKey: { domain, person, nth },
  Cancel: { nth },
  Reschedule: { nth },
  Resend: { nth },
  CreateKey: { scope: upTo(SCOPES.length - 1), domain: Schema.NullOr(domain) },
  RevokeKey: { nth },
})
type Command = typeof Command.Type

/** Addresses are compared without regard to case. */
const keyOf = (address: string): string => address.toLowerCase()

type Json = Answer["json"]
type Request = (
  method: string,
  path: string,
  body?: unknown,
  key?: string,
  headers?: Readonly<Record<string, string>>,
) => Effect.Effect<{ status: number; json: Json }>

/** The worst status of the recipients, where suppressed outranks canceled. */
const statusOf = (message: Model["emails"][number]): string => {
  if (!message.canceled) return "queued"
  return message.queued.size < message.to.length ? "suppressed" : "canceled"
}

/** Computes the expected response before the request, and learns ids from the response. */
const obey = Effect.fnUntraced(function* (model: Model, command: Command, request: Request) {
  const expect = (answer: { status: number; json: Json }, status: number, reason?: string) => {
    assert.deepStrictEqual([answer.status, answer.json?.error?.reason], [status, reason], JSON.stringify(answer.json))
    return answer.json
  }
  const nameOf = (n: number) => DOMAINS[n] ?? ""
  const personOf = (n: number) => PEOPLE[n] ?? ""
  const email = (n: number) => model.emails[n % Math.max(1, model.emails.length)]
  const key = (n: number) => model.keys[n % Math.max(1, model.keys.length)]

  /** The rules of acceptance, computed from the known domains and suppressions. */
  const verdict = (from: string, to: ReadonlyArray<string>): readonly [number, string?] => {
    if (!model.domains.has(from)) return [422, "domain_not_verified"]
    return to.every((each) => model.suppressed.has(each)) ? [422, "all_recipients_suppressed"] : [200]
  }
  const accepted = (id: string, from: string, to: ReadonlyArray<string>) => {
    const queued = new Set(to.filter((each) => !model.suppressed.has(each)))
    model.emails.push({ id, from, to, canceled: false, queued })
    model.used += queued.size
  }
  const send = Effect.fnUntraced(function* (
    from: string,
    written: ReadonlyArray<string>,
    later: boolean,
    secret?: string,
  ) {
    const to = [...new Map(written.map((each) => [keyOf(each), keyOf(each)])).values()]
    const scheduled_at = later ? hoursAfterMiddle(1) : null
    const answer = yield* request(
      "POST",
      "/v1/email/send",
      { from: `hi@${from}`, to: written, subject: "Hi", text: "Hi", scheduled_at },
      secret,
    )
    return { answer, to }
  })

  switch (command._tag) {
    case "AddDomain": {
      const name = nameOf(command.domain)
      const answer = yield* request("POST", "/v1/domains", { name })
      if (model.domains.has(name)) return expect(answer, 422, "domain_already_exists")
      assert.strictEqual(expect(answer, 201).status, "verified")
      return model.domains.add(name)
    }
    case "RemoveDomain": {
      const name = nameOf(command.domain)
      const answer = yield* request("DELETE", `/v1/domains/${name}`)
      return model.domains.delete(name) ? expect(answer, 200) : expect(answer, 404, "domain_not_found")
    }
    case "Suppress": {
      const address = keyOf(personOf(command.person))
      const answer = yield* request("POST", "/v1/suppressions", { email: personOf(command.person) })
      if (model.suppressed.has(address)) return expect(answer, 422, "already_suppressed")
      model.suppressed.add(address)
      return expect(answer, 201)
    }
    case "Unsuppress": {
      const address = keyOf(personOf(command.person))
      const answer = yield* request("DELETE", `/v1/suppressions/${encodeURIComponent(personOf(command.person))}`)
      return model.suppressed.delete(address) ? expect(answer, 200) : expect(answer, 404, "suppression_not_found")
    }
    case "Send": {
      const from = nameOf(command.domain)
      const { answer, to } = yield* send(from, command.to.map(personOf), command.later)
      const json = expect(answer, ...verdict(from, to))
      if (answer.status === 200) accepted(json.id, from, to)
      return
    }
    case "SendTwice": {
      const from = nameOf(command.domain)
      const to = [keyOf(personOf(command.person))]
      const body = { from: `hi@${from}`, to, subject: "Hi", text: "Hi", scheduled_at: null }
      const headers = { "idempotency-key": randomUUID() }
      const duplicate = request("POST", "/v1/email/send", body, undefined, headers)
      const [one, other] = yield* Effect.all([duplicate, duplicate], { concurrency: 2 })
      const json = expect(one, ...verdict(from, to))
      assert.deepStrictEqual([other.status, other.json.id], [one.status, json.id])
      if (one.status === 200) accepted(json.id, from, to)
      return
    }
    case "SendBatch": {
      const from = nameOf(command.domain)
      const to = [keyOf(personOf(command.person))]
      const one = { from: `hi@${from}`, to, subject: "Hi", text: "Hi" }
      const emails = Array.from({ length: command.count }, () => one)
      const answer = yield* request("POST", "/v1/email/send/batch", { emails })
      const json = expect(answer, ...verdict(from, to))
      // Messages of one moment are listed in the order of their ids.
      const ids: ReadonlyArray<string> = answer.status === 200 ? json.data.map(({ id }: Json) => id) : []
      for (const id of ids.toSorted()) accepted(id, from, to)
      return
    }
    case "SendWithKey": {
      const held = key(command.nth)
      if (held === undefined) return
      const from = nameOf(command.domain)
      const { answer, to } = yield* send(from, [personOf(command.person)], false, held.secret)
      if (held.revoked) return expect(answer, 401, "api_key_invalid")
      if (held.scope !== "email:send") return expect(answer, 403, "missing_scope")
      if (held.domain !== null && held.domain !== from) return expect(answer, 403, "domain_not_allowed")
      const json = expect(answer, ...verdict(from, to))
      if (answer.status === 200) accepted(json.id, from, to)
      return
    }
    case "Cancel": {
      const message = email(command.nth)
      if (message === undefined) return
      const answer = yield* request("POST", `/v1/email/${message.id}/cancel`)
      if (message.canceled) return expect(answer, 422, "not_cancelable")
      message.canceled = true
      model.used -= message.queued.size
      return assert.strictEqual(expect(answer, 200).status, statusOf(message))
    }
    case "Reschedule": {
      const message = email(command.nth)
      if (message === undefined) return
      const scheduled_at = hoursAfterMiddle(2)
      const answer = yield* request("PATCH", `/v1/email/${message.id}`, { scheduled_at })
      if (message.canceled) return expect(answer, 422, "not_cancelable")
      return assert.strictEqual(expect(answer, 200).scheduled_at, scheduled_at)
    }
    case "Resend": {
      const message = email(command.nth)
      if (message === undefined) return
      const answer = yield* request("POST", `/v1/email/${message.id}/resend`)
      // Of a message that waits for its time only the suppressed recipients are given up.
      const to = message.canceled ? message.to : message.to.filter((address) => !message.queued.has(address))
      if (to.length === 0) return expect(answer, 422, "nothing_to_resend")
      const json = expect(answer, ...verdict(message.from, to))
      if (answer.status === 200) accepted(json.id, message.from, to)
      return
    }
    case "CreateKey": {
      const scope = SCOPES[command.scope] ?? ""
      const name = command.domain === null ? null : nameOf(command.domain)
      const json = expect(yield* request("POST", "/v1/api-keys", { name: "k", scopes: [scope], domain: name }), 201)
      return model.keys.push({ id: json.id, secret: json.key, scope, domain: name, revoked: false })
    }
    case "RevokeKey": {
      const held = key(command.nth)
      if (held === undefined) return
      expect(yield* request("DELETE", `/v1/api-keys/${held.id}`), 200)
      return (held.revoked = true)
    }
  }
})

/** Compares every list of the service with the model at the end. */
const compare = Effect.fnUntraced(function* (model: Model, request: Request) {
  const list = (path: string) => Effect.map(request("GET", path), ({ json }): ReadonlyArray<Json> => json.data)
  const domains = yield* list("/v1/domains")
  assert.sameMembers(
    domains.map(({ name }) => name),
    [...model.domains],
  )
  const suppressed = yield* list("/v1/suppressions?limit=100")
  assert.sameMembers(
    suppressed.map(({ email }) => keyOf(email)),
    [...model.suppressed],
  )
  const log = yield* list("/v1/email/logs?limit=100")
  assert.deepStrictEqual(
    log.map(({ id, recipients, status }) => ({
      id,
      status,
      queued: recipients
        .filter((each: Json) => each.status !== "suppressed")
        .map(({ address }: Json) => keyOf(address)),
    })),
    model.emails.toReversed().map((message) => ({
      id: message.id,
      status: statusOf(message),
      queued: [...message.queued],
    })),
  )
  const canceled = yield* list("/v1/email/logs?limit=100&status=canceled")
  assert.strictEqual(canceled.length, model.emails.filter((each) => statusOf(each) === "canceled").length)
  const account = yield* request("GET", "/v1/account")
  assert.strictEqual(account.json.usage.emails, model.used)
})

const World = HttpWorld.layer().pipe(Layer.provideMerge(layerFromMiddle))

const PER_KEY = 90
const PATIENCE_MS = 180_000

layer(World, { excludeTestServices: true, timeout: "180 seconds" })(
  "the service and a customer's model of it",
  (it) => {
    it.effect.prop(
      "agree after every command of any history",
      { history: Arbitrary.array(Arbitrary.schema(Command), { minLength: 10, maxLength: 60 }) },
      ({ history }) =>
        Effect.gen(function* () {
          const world = yield* HttpWorld
          const account = yield* world.account()
          let left = 0
          let admin = ""
          const request: Request = (method, path, body, key, headers = {}) =>
            Effect.gen(function* () {
              // Use the next key before the rate window is used up.
              if (left <= 0) {
                admin = (yield* world.key(account)).secret
                left = PER_KEY
              }
              left--
              return yield* world.request(method, path, {
                key: key ?? admin,
                headers,
                body,
              })
            })
          const model: Model = { domains: new Set(), suppressed: new Set(), emails: [], keys: [], used: 0 }
          // The log orders messages by their millisecond.
          for (const command of history) yield* Effect.andThen(nextMillisecond, obey(model, command, request))
          yield* compare(model, request)
        }),
      { arbitrary: { runs: 30 }, timeout: PATIENCE_MS },
    )

    it.effect("agree with the log on the month's volume", function* () {
      const { url } = yield* Fresh
      const { differences, rows } = yield* Effect.provide(
        Rebuild.verify("monthly_usage", { release: "test" }),
        Replay.layer(...replayUrls(url)),
      )
      assert.isAbove(rows, 20)
      assert.deepStrictEqual(differences, [])
    })
  },
)
