import * as DomainEvent from "@waybill/domain/DomainEvent"
import type { AccountId } from "@waybill/domain/Id"
import type { ReadModel } from "../ReadModel.ts"
import { type AnyAggregate, type AnyEvent, coderOf, type Fact } from "../Recorded.ts"

/** What a fill reads of each event, in this order. */
export const COLUMNS = "account_id, stream_id, version, type, (meta ->> 'schema_version')::int, data"

/** The signature of the binary format, its flags and the length of an extension that there is none of. */
const HEADER_BYTES = 19
/** The first byte of a jsonb on the wire is the version of the format; text follows. */
const JSONB_VERSION_BYTES = 1

/** Every decider whose streams are folded, also those that a newer build has added. */
export const aggregateOf = (stream: string): AnyAggregate => {
  const found = Object.values<AnyAggregate>(DomainEvent.aggregates).find((each) => each.stream === stream)
  if (found === undefined) throw new Error(`no stream is called ${stream}`)
  return found
}

/**
 * An event out of what its row holds. What was written in today's shape went through today's schema on its way in and
 * JSON is what it is in memory too, so that only older shapes are decoded: that is most of the cost of a rebuild.
 */
export const eventOf = (
  aggregate: AnyAggregate,
  type: string,
  schemaVersion: number,
  data: Readonly<Record<string, unknown>>,
): AnyEvent => {
  if (schemaVersion === DomainEvent.schemaVersion(type)) return { _tag: type, ...data }
  return coderOf(aggregate).decode({ _tag: type, ...DomainEvent.upcast(type, schemaVersion, data) })
}

export type Take = (history: ReadonlyArray<Fact>) => void

/** Takes rows of `COLUMNS` in the order of the log's key, and gives out whole streams. */
export class Histories {
  events = 0
  readonly #aggregate: AnyAggregate
  readonly #take: Take
  #history: Array<Fact> = []
  // Neighbours share these; comparing bytes is cheaper than making strings.
  #account: Buffer = Buffer.alloc(0)
  #stream: Buffer = Buffer.alloc(0)
  #accountId = "" as AccountId
  #streamId = ""
  #isFirst = true

  constructor(aggregate: AnyAggregate, take: Take) {
    this.#aggregate = aggregate
    this.#take = take
  }

  row(message: Buffer): void {
    let at = this.#isFirst ? HEADER_BYTES : 0
    this.#isFirst = false
    // The trailer has no columns.
    if (message.length < at + 2 || message.readInt16BE(at) < 0) return
    at += 2
    const field = () => {
      const length = message.readInt32BE(at)
      const start = at + 4
      at = start + length
      return message.subarray(start, at)
    }
    const account = field()
    const stream = field()
    const version = field().readInt32BE(0)
    const type = field().toString("latin1")
    const schemaVersion = field().readInt32BE(0)
    const data = JSON.parse(field().toString("utf8", JSONB_VERSION_BYTES)) as Readonly<Record<string, unknown>>
    if (!stream.equals(this.#stream) || !account.equals(this.#account)) this.#begin(account, stream)
    this.events++
    this.#history.push({
      account_id: this.#accountId,
      stream_id: this.#streamId,
      version,
      event: eventOf(this.#aggregate, type, schemaVersion, data),
    })
  }

  #begin(account: Buffer, stream: Buffer): void {
    this.end()
    if (!account.equals(this.#account)) {
      this.#account = Buffer.from(account)
      this.#accountId = account.toString() as AccountId
    }
    this.#stream = Buffer.from(stream)
    this.#streamId = stream.toString()
  }

  end(): void {
    if (this.#history.length > 0) this.#take(this.#history)
    this.#history = []
  }
}

/** The rows of one stream, as the commit that appended its last event wrote them. */
export const rowsOf = (
  model: ReadModel,
  aggregate: AnyAggregate,
  history: ReadonlyArray<Fact>,
): ReadonlyArray<object> => {
  let state = aggregate.initial
  for (const { event } of history) state = aggregate.evolve(state, event)
  return model.rows(history, state)
}
