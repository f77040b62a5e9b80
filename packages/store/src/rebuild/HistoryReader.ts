import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import type { AccountId } from "@waybill/domain/values/Id"
import type { ReadModel } from "../readmodels/ReadModel.ts"
import { type AnyAggregate, type AnyEvent, coderOf, type Fact } from "../commit/RecordedEvents.ts"

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
  data: Record<string, unknown>,
): AnyEvent => {
  if (schemaVersion === DomainEvent.schemaVersion(type)) return Object.assign(data, { _tag: type })
  return coderOf(aggregate).decode({ _tag: type, ...DomainEvent.upcast(type, schemaVersion, data) })
}

export type Take = (history: ReadonlyArray<Fact>) => void

/** Takes rows of `COLUMNS` in the order of the log's key, and gives out whole streams. */
export class Histories {
  events = 0
  readonly #aggregate: AnyAggregate
  readonly #take: Take
  #history: Array<Fact> = []
  // As their bytes are, whatever they mean: neighbours share them.
  #place = ""
  #accountId = "" as AccountId
  #streamId = ""
  #isFirst = true

  constructor(aggregate: AnyAggregate, take: Take) {
    this.#aggregate = aggregate
    this.#take = take
  }

  /** Every field is its length and its bytes; views of them would cost more than what is read by them. */
  row(message: Buffer): void {
    let at = this.#isFirst ? HEADER_BYTES : 0
    this.#isFirst = false
    // The trailer has no columns.
    if (message.length < at + 2 || message.readInt16BE(at) < 0) return
    const account = at + 6
    const accountEnd = account + message.readInt32BE(account - 4)
    const stream = accountEnd + 4
    const streamEnd = stream + message.readInt32BE(accountEnd)
    const version = streamEnd + 4
    const type = version + 8
    const typeEnd = type + message.readInt32BE(type - 4)
    const schemaVersion = typeEnd + 4
    const data = schemaVersion + 8
    const head = message.toString("latin1", account, typeEnd)
    const place = head.slice(0, streamEnd - account)
    if (place !== this.#place) {
      this.end()
      this.#place = place
      this.#accountId = message.toString("utf8", account, accountEnd) as AccountId
      this.#streamId = message.toString("utf8", stream, streamEnd)
    }
    at = message.readInt32BE(data - 4) + data
    this.events++
    this.#history.push({
      account_id: this.#accountId,
      stream_id: this.#streamId,
      version: message.readInt32BE(version),
      event: eventOf(
        this.#aggregate,
        head.slice(type - account),
        message.readInt32BE(schemaVersion),
        JSON.parse(message.toString("utf8", data + JSONB_VERSION_BYTES, at)) as Record<string, unknown>,
      ),
    })
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
  const [first] = history
  if (first === undefined) return []
  let state = aggregate.initial
  for (const { event } of history) state = aggregate.evolve(state, event)
  const { account_id, stream_id } = first
  return model.rows({ account_id, stream_id, version: history.length }, state)
}
