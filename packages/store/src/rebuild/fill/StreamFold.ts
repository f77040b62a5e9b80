import type { AccountId } from "@waybill/domain/values/Id"
import type * as RecordedEvents from "../../log/RecordedEvents.ts"
import { keyText, type ModelRow, type ReadModel } from "../../readmodels/ReadModel.ts"

/** Folds the events of one stream after another into the rows that the commits of these events wrote. */
export class StreamFold {
  readonly #model: ReadModel
  readonly #aggregate: RecordedEvents.AnyAggregate
  #account_id = "" as AccountId
  #stream_id = ""
  #version = 0
  #state: unknown
  /**
   * Rows taken every `rememberedEvents` of the read model, because a later state may have forgotten them, and the version at
   * which the last ones were taken.
   */
  #remembered: Array<ReadonlyArray<ModelRow>> = []
  #rememberedVersion = 0

  constructor(model: ReadModel, aggregate: RecordedEvents.AnyAggregate) {
    this.#model = model
    this.#aggregate = aggregate
  }

  begin(account_id: AccountId, stream_id: string): void {
    this.#account_id = account_id
    this.#stream_id = stream_id
    this.#version = 0
    this.#state = this.#aggregate.initial
    if (this.#rememberedVersion > 0) this.#remembered = []
    this.#rememberedVersion = 0
  }

  add(event: RecordedEvents.AnyEvent): void {
    this.#state = this.#aggregate.evolve(this.#state, event)
    this.#version++
    const { rememberedEvents } = this.#model
    if (rememberedEvents === undefined || this.#version % rememberedEvents !== 0) return
    this.#remembered.push(this.#current())
    this.#rememberedVersion = this.#version
  }

  /** Returns the rows of the stream after all events that were added since it began. */
  rows(): ReadonlyArray<ModelRow> {
    if (this.#version === 0) return []
    if (this.#rememberedVersion === 0) return this.#current()
    const last = this.#rememberedVersion === this.#version ? [] : [this.#current()]
    return distinctBy(this.#model, [...this.#remembered, ...last].flat())
  }

  #current(): ReadonlyArray<ModelRow> {
    const stream = { account_id: this.#account_id, stream_id: this.#stream_id, version: this.#version }
    return this.#model.rows(stream, this.#state)
  }
}

/** Returns the rows of one stream as the commits of its events wrote them. */
export const rowsOf = (
  model: ReadModel,
  aggregate: RecordedEvents.AnyAggregate,
  history: ReadonlyArray<RecordedEvents.NewEvent>,
): ReadonlyArray<ModelRow> => {
  const [first] = history
  if (first === undefined) return []
  const fold = new StreamFold(model, aggregate)
  fold.begin(first.account_id, first.stream_id)
  for (const { event } of history) fold.add(event)
  return fold.rows()
}

/** Returns the last row of each key. */
export const distinctBy = (model: Pick<ReadModel, "key">, rows: ReadonlyArray<ModelRow>): ReadonlyArray<ModelRow> => [
  ...new Map(rows.map((row) => [keyText(model, row), row])).values(),
]
