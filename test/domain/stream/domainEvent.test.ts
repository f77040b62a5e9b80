import type * as Aggregate from "@waybill/domain/values/Aggregate"
import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import * as Aggregates from "@waybill/domain/stream/Aggregates"
import * as WebhookType from "@waybill/domain/webhook/WebhookType"
import * as Upcast from "@waybill/domain/stream/Upcast"
import { Arbitrary, Schema } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { assert, describe, it } from "../../support/effectTest.ts"

const folder = new URL("../../fixtures/events/", import.meta.url)
const kinds = Object.values(Aggregates.aggregates)
const codec = Schema.toCodecJson(DomainEvent.DomainEvent)
const decode = Schema.decodeUnknownSync(codec)
const encode = Schema.encodeSync(codec)

/** `data` is the stored data of that version; `reads_as` is its present meaning, if different. */
const Golden = Schema.Struct({
  data: Schema.Record(Schema.String, Schema.Unknown),
  reads_as: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
})
const golden = (tag: string, version: number) =>
  Schema.decodeUnknownSync(Golden)(JSON.parse(readFileSync(new URL(`${tag}.v${version}.json`, folder), "utf8")))

const versions = DomainEvent.TAGS.flatMap((tag) =>
  Array.from({ length: DomainEvent.schemaVersion(tag) }, (_, i) => [tag, i + 1] as const),
)

describe("golden events", () => {
  it("there is one golden event for each type and version", () => {
    const expected = versions.map(([tag, version]) => `${tag}.v${version}.json`)
    assert.deepStrictEqual(readdirSync(folder).toSorted(), expected.toSorted())
  })

  it.for(versions)("%s of version %i decodes to the same event", ([tag, version]) => {
    const { data, reads_as } = golden(tag, version)
    const newest = DomainEvent.upcast(tag, version, data)
    const event = decode({ ...newest, _tag: tag })
    assert.deepStrictEqual<unknown>(encode(event), { ...(reads_as ?? data), _tag: tag })
    // Decoding loses nothing of what was written.
    assert.deepStrictEqual<unknown>(JSON.parse(JSON.stringify(event)), { ...(reads_as ?? data), _tag: tag })
  })
})

/** Events that create an object. Any other event is ignored while there is none. */
const BIRTHS = new Set([
  "AccountCreated",
  "DomainAdded",
  "EmailQueued",
  "EmailReceived",
  "InboundRouteCreated",
  "KeyCreated",
  "TestKeyCreated",
  "TestClockCreated",
  "MemberInvited",
  "SuppressionAdded",
  "TemplateCreated",
  "WebhookCreated",
])

describe("every event", () => {
  const newest = (tag: string) =>
    decode({ ...DomainEvent.upcast(tag, 1, golden(tag, 1).data), _tag: tag }) as { readonly _tag: string }
  /** Each decider accepts its own events only. */
  const deciderOf = (tag: string) => {
    const decider = kinds.find(({ Event }) => tag in Event.cases)
    return decider as unknown as Aggregate.Aggregate<unknown, { readonly _tag: string }>
  }

  /** Removes the counter of a team, which counts events that change nothing too. */
  const withoutVersion = (state: unknown): unknown =>
    JSON.parse(JSON.stringify(state, (field, value: unknown) => (field === "version" ? undefined : value)))

  it.for(DomainEvent.TAGS.filter((tag) => !BIRTHS.has(tag)))("%s changes nothing in an empty state", (tag) => {
    const { evolve, initial } = deciderOf(tag)
    assert.deepStrictEqual(withoutVersion(evolve(initial, newest(tag))), withoutVersion(initial))
  })

  it.for([...BIRTHS])("%s creates an object once", (tag) => {
    const { evolve, initial } = deciderOf(tag)
    const born = evolve(initial, newest(tag))
    assert.notDeepEqual(withoutVersion(born), withoutVersion(initial))
    assert.deepStrictEqual(withoutVersion(evolve(born, newest(tag))), withoutVersion(born))
  })
})

describe("union of all events", () => {
  it("the union holds each aggregate's events once", () => {
    const tags = kinds.flatMap(({ Event }) => Object.keys(Event.cases))
    assert.strictEqual(new Set(tags).size, tags.length)
    assert.deepStrictEqual(tags.toSorted(), [...DomainEvent.TAGS].toSorted())
  })

  it("each stream has its own name", () => {
    for (const [name, { stream, Event }] of Object.entries(Aggregates.aggregates)) {
      assert.strictEqual(stream, name)
      for (const tag of Object.keys(Event.cases)) assert.strictEqual<string | undefined>(Aggregates.streamOf(tag), name)
    }
    assert.isUndefined(Aggregates.streamOf("EmailTeleported"))
    assert.isUndefined(Aggregates.streamOf("toString"))
  })

  it("every webhook type has exactly one event, except that of a new key, which is live or a test key", () => {
    for (const type of WebhookType.WebhookType.literals)
      assert.strictEqual(DomainEvent.tagsOf(type).length, type === "api_key.created" ? 2 : 1, type)
    const called = [...new Set(DomainEvent.TAGS.map(DomainEvent.publicType).filter(WebhookType.isWebhookType))]
    assert.deepStrictEqual<ReadonlyArray<string>>(called.toSorted(), [...WebhookType.WebhookType.literals].toSorted())
  })

  it("every event has its own public type", () => {
    const types = DomainEvent.TAGS.filter((tag) => tag !== "TestKeyCreated").map(DomainEvent.publicType)
    assert.strictEqual(new Set(types).size, types.length)
    assert.strictEqual(DomainEvent.publicType("EmailDeferred"), "email.delivery_delayed")
    assert.strictEqual(DomainEvent.publicType("EmailAttemptLost"), "email.attempt_lost")
    assert.strictEqual(DomainEvent.publicType("KeyCreated"), "api_key.created")
    assert.strictEqual(DomainEvent.publicType("DomainRemoved"), "domain.deleted")
    assert.isFalse(WebhookType.isWebhookType("email.attempt_lost"))
  })

  for (const { stream, Event } of kinds)
    it.prop(
      `any ${stream} event survives JSON`,
      { event: Arbitrary.schema<Schema.Codec<DomainEvent.DomainEvent, unknown>>(Event) },
      ({ event }) => {
        const text = JSON.stringify(encode(event))
        assert.deepStrictEqual(decode(JSON.parse(text)), event)
        assert.isFalse(
          text.includes("\\u0000") || /\\ud[89a-f]/u.test(text),
          "jsonb takes neither NUL nor half a surrogate pair",
        )
        assert.match(DomainEvent.occurredAt(event), /^\d{4}-/u)
      },
      { arbitrary: { runs: 100 } },
    )

  for (const aggregate of kinds)
    it.prop(
      `${aggregate.stream} events fold in any order without an exception`,
      {
        events: Arbitrary.array(Arbitrary.schema<Schema.Codec<DomainEvent.DomainEvent, unknown>>(aggregate.Event), {
          maxLength: 10,
        }),
      },
      ({ events }) => {
        const decider = aggregate as unknown as Aggregate.Aggregate<{ readonly _tag: string }, DomainEvent.DomainEvent>
        const fold = () => events.reduce(decider.evolve, decider.initial)
        const once = fold()
        assert.isString(once._tag)
        assert.deepStrictEqual(fold(), once)
      },
      { arbitrary: { runs: 60 } },
    )
})

describe("event of an older release", () => {
  const { schemaVersion, upcast } = Upcast.make({
    ShipmentBooked: [
      (data) => ({ ...data, to: [data["to"]] }),
      ({ weight, ...data }) => ({ ...data, weight_grams: typeof weight === "number" ? weight * 1000 : null }),
    ],
  })

  it("an old event is migrated step by step to the newest version", () => {
    assert.strictEqual(schemaVersion("ShipmentBooked"), 3)
    assert.deepStrictEqual(upcast("ShipmentBooked", 1, { to: "ana", weight: 2 }), { to: ["ana"], weight_grams: 2000 })
    assert.deepStrictEqual(upcast("ShipmentBooked", 2, { to: ["ana"] }), { to: ["ana"], weight_grams: null })
  })
  it("an event of the newest version, or of a newer release, passes unchanged", () => {
    const data = { to: ["ana"], weight_grams: 1 }
    for (const version of [3, 4, 99]) assert.strictEqual(upcast("ShipmentBooked", version, data), data)
  })
  it("an unchanged or unknown type has version 1", () => {
    const data = { a: 1 }
    for (const type of ["ShipmentLost", "toString", "__proto__", ""]) {
      assert.strictEqual(schemaVersion(type), 1)
      assert.strictEqual(upcast(type, 1, data), data)
    }
  })
  it("only existing types have steps", () => {
    for (const type of Object.keys(Upcast.STEPS)) assert.isDefined(Aggregates.streamOf(type))
  })
})
