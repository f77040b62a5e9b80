import type * as EmailIds from "./EmailIds.ts"
import * as TermKey from "../postgres/TermKey.ts"

/** Keys of search terms, by what they are about: the log's row has one of each kind. Ids are listed by their ranges. */
export interface Terms {
  readonly senders: ReadonlyArray<TermKey.TermKey>
  readonly recipients: ReadonlyArray<TermKey.TermKey>
  readonly tags: ReadonlyArray<TermKey.TermKey>
  /** Pairs and templates, none of which the row of the log has. */
  readonly metadata: ReadonlyArray<TermKey.TermKey>
  readonly subjects: ReadonlyArray<TermKey.TermKey>
  readonly ids: ReadonlyArray<EmailIds.IdRange>
}

/** Returns the keys of senders, recipients, tags and metadata, which are told apart by the begin of their terms. */
export const of = (terms: ReadonlyArray<string>): Terms => ({
  senders: terms.filter((term) => term.startsWith("from:")).map(TermKey.of),
  recipients: terms.filter((term) => term.startsWith("to:")).map(TermKey.of),
  tags: terms.filter((term) => term.startsWith("tag:")).map(TermKey.of),
  metadata: terms.filter((term) => /^(?:metadata|template):/u.test(term)).map(TermKey.of),
  subjects: [],
  ids: [],
})

/** Number of the keys and ranges of some terms. */
export const countOf = (terms: Terms): number => Object.values(terms).flat().length

/** Whether the terms are no others than one. */
export const areOnly = (terms: Terms, key: TermKey.TermKey): boolean =>
  countOf(terms) === 1 &&
  [...terms.senders, ...terms.recipients, ...terms.tags, ...terms.metadata, ...terms.subjects].includes(key)
