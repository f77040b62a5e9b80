import { Option, Schema } from "effect"
import * as PositionNumbers from "../cells/PositionNumbers.ts"
import type { CellName } from "../routing/CellName.ts"

/** How far a reader of the events of all accounts has come: a place for each server, which gives the positions of its cells. */
export interface FeedCursor {
  /** All events up to this position were read that there were when it was reached. */
  readonly upTo: bigint
  /** When it was reached by the clock of the first server, in milliseconds: accounts that have moved since are looked at apart. */
  readonly since: number
  /** Position up to which the events of each server were read, by its number. */
  readonly places: ReadonlyMap<number, bigint>
  /** Number of the server of each cell. */
  readonly cells: ReadonlyMap<CellName, number>
}

export const START: FeedCursor = { upTo: 0n, since: 0, places: new Map(), cells: new Map() }

/** Number of the first cell's server. */
export const HOME = 0
/** Stands for all servers that were cells before the reader began. */
export const FORMER = PositionNumbers.STEP

const Position = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))
const Number_ = Schema.Int.check(Schema.isBetween({ minimum: HOME, maximum: FORMER }))
const Stored = Schema.Struct({
  upTo: Position,
  since: Position,
  places: Schema.Array(Schema.Tuple([Number_, Position])).check(Schema.isMaxLength(FORMER + 1)),
  cells: Schema.Array(Schema.Tuple([Schema.String, Number_])),
})
const Json = Schema.fromJsonString(Stored)

const PREFIX = "all_"
const decode = Schema.decodeUnknownOption(Json)
const encode = Schema.encodeSync(Json)

/** Writes a cursor as text for its reader, who only gives it back. */
export const toText = ({ cells, places, since, upTo }: FeedCursor): string => {
  const stored = {
    upTo: Number(upTo),
    since,
    places: [...places].map(([number, place]) => [number, Number(place)] as const),
    cells: [...cells],
  }
  return PREFIX + Buffer.from(encode(stored)).toString("base64url")
}

/** Returns undefined for a text that is no cursor. */
export const fromText = (text: string): FeedCursor | undefined => {
  if (!text.startsWith(PREFIX)) return undefined
  const stored = decode(Buffer.from(text.slice(PREFIX.length), "base64url").toString())
  return Option.getOrUndefined(
    Option.map(stored, ({ cells, places, since, upTo }) => ({
      upTo: BigInt(upTo),
      since,
      places: new Map(places.map(([number, place]) => [number, BigInt(place)])),
      cells: new Map(cells),
    })),
  )
}
