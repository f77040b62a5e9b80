import * as PageBytes from "../feed/PageBytes.ts"
import * as IdKey from "../postgres/IdKey.ts"
import * as EmailLogChoice from "./EmailLogChoice.ts"
import type { Known } from "./EmailLogCriteria.ts"
import * as EmailLogFilter from "./EmailLogFilter.ts"
import * as EmailLogSource from "./EmailLogSource.ts"
import type * as EmailLogWalk from "./EmailLogWalk.ts"

// Plans a search, without a statement: `next` says what to do, and the other functions what is known after it.

/**
 * Ids examined by the first statement of a search, the growth from one statement to the next, and the maximum. Applies
 * to searches that filter by more than their source.
 */
export const FIRST_CHUNK = 64
export const CHUNK_GROWTH = 4
/** Growth while first events are read in order, which takes a tenth of the time of a walk. */
const READ_GROWTH = 16
export const MAX_CHUNK = 16_384
/** Ids that a step reads, for one that fills the page at the present rate. */
const SPARE = 1.5
/**
 * Maximum number of ids examined for one page. Reached only by filters that are all common and rarely match together;
 * their page then ends early, with `has_more` and a cursor.
 */
export const MAX_EXAMINED = 20_000
/** Messages that are walked to fill a page sooner than the texts with the searched part are looked up, which takes as long. */
const WALKED = 1_000

/** A search as far as it has come. */
export interface State {
  readonly filter: EmailLogFilter.Filter
  readonly limit: number
  /** Whether messages are counted, by the keys of what is searched. */
  readonly isByKeys: boolean
  /** Lists of which one is walked, or several together. */
  readonly sources: ReadonlyArray<EmailLogSource.Source>
  /** The list that is walked; undefined while it is to be chosen. */
  readonly choice: EmailLogChoice.Choice | undefined
  /** Whether the texts with the searched parts are looked up, which they are once matches are rare. */
  readonly texts: "unknown" | "wanted" | "known"
  /** The rest of the range. */
  readonly range: EmailLogSource.Range
  /** Number of ids that the next step reads. */
  readonly chunk: number
  readonly found: number
  readonly examined: number
  readonly bytes: number
  /** Whether the search has ended: with all that it may find, or as the page has no bytes left. */
  readonly end: "whole" | "full" | undefined
}

/** The next thing to do. */
export type Step =
  /** Read the first ids of some lists, to choose one. */
  | { readonly _tag: "Compare"; readonly sized: ReadonlyArray<EmailLogChoice.Sized> }
  /** Find the end of so many messages, which are then read from their first events. */
  | { readonly _tag: "FindEnd"; readonly source: EmailLogSource.Source; readonly messages: number }
  /** Look up the texts with the searched parts, which have lists. */
  | { readonly _tag: "FindTexts" }
  /** Read ids of a list, and the messages that match. */
  | {
      readonly _tag: "Walk"
      readonly source: EmailLogSource.Source
      readonly range: EmailLogSource.Range
      readonly chunk: number
      readonly room: EmailLogWalk.Room
    }
  /** Return the page, and the id where it stopped before the end of the search. */
  | { readonly _tag: "Stop"; readonly at: string | null }

type StepOf<Tag extends Step["_tag"]> = Extract<Step, { readonly _tag: Tag }>

/** Returns the beginning of a search. */
export const begin = (filter: EmailLogFilter.Filter, limit: number, known: Known, isCount: boolean): State =>
  choosing({
    filter,
    limit,
    isByKeys: isCount && EmailLogFilter.isByKeys(filter, known),
    sources: EmailLogFilter.sourcesOf(filter, known),
    choice: undefined,
    texts: "unknown",
    range: filter.range,
    chunk: EmailLogFilter.isExact(filter) ? limit + 1 : FIRST_CHUNK,
    found: 0,
    examined: 0,
    bytes: 0,
    end: undefined,
  })

/** The only list needs no comparison. */
const choosing = (state: State): State => {
  const [first, second] = state.sources
  const source = first ?? (EmailLogFilter.acceptedOf(state.filter) === undefined ? EmailLogSource.all : undefined)
  const isOnly = second === undefined && source !== undefined
  return { ...state, choice: isOnly ? { source, isCertain: true, common: undefined } : undefined }
}

/** Returns the next step: the rarest list is walked in growing steps until the page is full. */
export const next = ({ choice, ...state }: State): Step => {
  const { bytes, chunk, filter, found, isByKeys, limit, range, sources } = state
  if (state.end === "whole") return { _tag: "Stop", at: null }
  if (state.end === "full" || state.examined >= MAX_EXAMINED)
    return { _tag: "Stop", at: IdKey.idOf("EmailId", filter.order === "newest first" ? range.below : range.above) }
  if (state.texts === "wanted") return { _tag: "FindTexts" }
  if (choice === undefined && sources.length > 0)
    return { _tag: "Compare", sized: EmailLogChoice.sizesOf(sources, chunk) }
  if (choice === undefined)
    return { _tag: "FindEnd", source: EmailLogFilter.acceptedOf(filter) ?? EmailLogSource.all, messages: chunk }
  // No message has a text that no text of the account contains, or facets that none of its messages has.
  if (EmailLogSource.listsOf(choice.source) === 0) return { _tag: "Stop", at: null }
  const room = { messages: limit + 1 - found, bytes: PageBytes.MAX_PAGE_BYTES - bytes, isCount: isByKeys }
  return choice.common === undefined
    ? { _tag: "Walk", source: choice.source, range, chunk: EmailLogSource.cap(chunk, choice.source), room }
    : {
        _tag: "Walk",
        source: choice.common.source,
        range: choice.common.range,
        chunk: EmailLogSource.MAX_ENTRIES,
        room,
      }
}

/** Chooses a list by the first ids of each. */
export const compared = (
  state: State,
  { sized }: StepOf<"Compare">,
  rows: ReadonlyArray<EmailLogSource.Sample>,
): State => ({
  ...state,
  choice: EmailLogChoice.choose(sized, rows, state.range, state.filter.order),
})

/** Chooses the first events up to a message, or to the end of the range. */
export const ended = (state: State, { messages, source }: StepOf<"FindEnd">, end: string | undefined): State => ({
  ...state,
  choice: EmailLogChoice.window(source, messages, end, state.range, state.filter.order),
})

/** Adds the lists of texts. */
export const withTexts = (state: State, lists: ReadonlyArray<EmailLogSource.Source>): State => {
  const known: State = { ...state, texts: "known", sources: [...state.sources, ...lists] }
  if (lists.length > 0) return choosing({ ...known, chunk: FIRST_CHUNK })
  return state.choice?.isCertain === true ? known : choosing(known)
}

/** Continues after what a walk has read. */
export const walked = (state: State, walk: EmailLogWalk.Walked): State => {
  const { choice, filter, limit } = state
  const common = walk.isEnd ? choice?.common : undefined
  const { examined: read, isEnd, last } = common ?? walk
  const found = state.found + walk.rows.length
  if (found > limit || isEnd) return { ...state, found, end: "whole" }
  const range = filter.order === "newest first" ? { ...state.range, below: last } : { ...state.range, above: last }
  if (walk.isFull) return { ...state, found, range, end: "full" }
  const examined = state.examined + read
  const wanted = limit + 1 - found
  const growth = choice?.source._tag === "Accepted" ? READ_GROWTH : CHUNK_GROWTH
  const needed = Math.ceil(SPARE * (wanted / (found / examined)))
  const chunk = Math.min(Math.max(needed, FIRST_CHUNK), state.chunk * growth, MAX_CHUNK)
  const after: State = { ...state, found, range, examined, bytes: state.bytes + walk.bytes, chunk }
  // At the present rate the next step would not fill the page, so look for a rarer list.
  const isSlow = found * chunk < wanted * examined
  if (!isSlow && choice?.common === undefined) return after
  const isRare = wanted * examined > WALKED * (found + 1)
  if (isRare && state.texts === "unknown") return { ...after, texts: "wanted" }
  return choice?.isCertain === true ? after : choosing(after)
}
