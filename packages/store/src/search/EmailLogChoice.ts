import * as Id from "@waybill/domain/values/Id"
import * as IdKey from "../postgres/IdKey.ts"
import * as EmailLogSource from "./EmailLogSource.ts"

/** Number of ids of each source that are compared to choose the rarest one. */
export const SAMPLE = 256
/** Number of lists of a source up to which it is sampled as deep as it is read, and of entries that others are sampled by. */
const FEW_LISTS = 2
const MAX_SAMPLED = 2_048
/** Lists with up to this many times the ids of the rarest one are read in full, rather than looked up for each of its ids. */
const MAX_DENSITY = 4

export interface Choice {
  /** The rarest source. */
  readonly source: EmailLogSource.Source
  /** Whether it is the rarest for the rest of the range: it has few ids left, or there is no other. */
  readonly isCertain: boolean
  /** A part of the range in which several lists are read together; undefined if only the rarest one is read. */
  readonly common: Common | undefined
}

/** Lists that are about as long as each other, up to the id that as many ids of each reach. */
export interface Common {
  readonly source: EmailLogSource.Source
  readonly range: EmailLogSource.Range
  /** Number of ids of the rarest list in this range, approximately. */
  readonly examined: number
  /** Key of the last id of the range. */
  readonly last: IdKey.IdKey
  /** Whether no later id is in all lists. */
  readonly isEnd: boolean
}

/** A list, and how many of its first ids are compared. */
export type Sized = readonly [source: EmailLogSource.Source, size: number]

/** Returns how many ids of each source to compare: short lists, and longer ones if they may be read together. */
export const sizesOf = (sources: ReadonlyArray<EmailLogSource.Source>, chunk: number): ReadonlyArray<Sized> => {
  const size = Math.max(chunk, SAMPLE)
  return sources.map((source) => [
    source,
    EmailLogSource.listsOf(source) <= FEW_LISTS ? size : EmailLogSource.cap(size, source, MAX_SAMPLED),
  ])
}

/** Chooses the source with the fewest ids; of those that have many, the one whose next ids reach furthest. */
export const choose = (
  sized: ReadonlyArray<Sized>,
  rows: ReadonlyArray<EmailLogSource.Sample>,
  range: EmailLogSource.Range,
  order: EmailLogSource.Order,
): Choice => {
  const firsts = rows.flatMap((row) => (row.first === null ? [] : [millisOf(row.first)]))
  const begin = order === "newest first" ? Math.max(...firsts) : Math.min(...firsts)
  const samples = sized.map(([source, size], nth): Sample => {
    const { count = 0, last = null } = rows[nth] ?? {}
    const span = last === null ? 1 : Math.max(1, Math.abs(millisOf(last) - begin))
    return { source, count, last: IdKey.fromUuid(last ?? IdKey.LOWEST), span, isComplete: count < size }
  })
  const rarest = samples.reduce((best, each) => (isRarer(each, best) ? each : best))
  const isCertain = isFew(rarest)
  return { source: rarest.source, isCertain, common: isCertain ? undefined : commonOf(samples, rarest, range, order) }
}

interface Sample {
  readonly source: EmailLogSource.Source
  readonly count: number
  readonly last: IdKey.IdKey
  /** Time between the first id of all sources and the last one of this. */
  readonly span: number
  /** Whether the source has no other ids in the range. */
  readonly isComplete: boolean
}

/** Whether the first key comes after the second one. */
const isFurther = (a: IdKey.IdKey, b: IdKey.IdKey, order: EmailLogSource.Order): boolean =>
  order === "newest first" ? a < b : a > b

const isRarer = (a: Sample, b: Sample): boolean => {
  if (isFew(a) || isFew(b)) return isFew(a) && (!isFew(b) || a.count < b.count)
  return a.count / a.span < b.count / b.span
}

const isFew = ({ count, isComplete }: Sample): boolean => isComplete && count < SAMPLE

const millisOf = (uuid: string): number => Id.timeOf(IdKey.idOf("EmailId", uuid))

const commonOf = (
  samples: ReadonlyArray<Sample>,
  rarest: Sample,
  range: EmailLogSource.Range,
  order: EmailLogSource.Order,
): Common | undefined => {
  const inSpan = ({ count, isComplete, span }: Sample) =>
    isComplete && span <= rarest.span ? count : (count * rarest.span) / span
  const isAlike = (each: Sample) =>
    EmailLogSource.listsOf(each.source) <= FEW_LISTS && inSpan(each) <= MAX_DENSITY * rarest.count
  const members = samples.filter((each) => each === rarest || isAlike(each))
  if (members.length === 1) return undefined
  const incomplete = members.filter(({ isComplete }) => !isComplete)
  const nearest = incomplete.reduce((best, each) => (isFurther(best.last, each.last, order) ? each : best), rarest)
  const reach = incomplete.length === 0 ? undefined : nearest
  return {
    source: { _tag: "Common", sources: members.map(({ source }) => source) },
    range: reach === undefined ? range : upTo(reach.last, range, order),
    examined: Math.ceil(rarest.count * Math.min(1, (reach ?? rarest).span / rarest.span)),
    last: (reach ?? rarest).last,
    isEnd: reach === undefined || members.some((each) => each.isComplete && !isFurther(each.last, reach.last, order)),
  }
}

/** Chooses a source that is the log itself, for the part of a range that has so many messages, up to the last of them. */
export const window = (
  source: EmailLogSource.Source,
  messages: number,
  end: string | undefined,
  range: EmailLogSource.Range,
  order: EmailLogSource.Order,
): Choice => {
  const last = end === undefined ? undefined : IdKey.fromUuid(end)
  const common: Common = {
    source,
    range: last === undefined ? range : upTo(last, range, order),
    examined: messages,
    last: last ?? IdKey.LOWEST,
    isEnd: last === undefined,
  }
  return { source, isCertain: false, common }
}

/** The part of a range up to an id, which is in it. */
const upTo = (last: IdKey.IdKey, range: EmailLogSource.Range, order: EmailLogSource.Order): EmailLogSource.Range =>
  order === "newest first" ? { ...range, above: IdKey.beside(last, -1) } : { ...range, below: IdKey.beside(last, 1) }
