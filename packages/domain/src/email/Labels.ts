import { Schema } from "effect"
import * as Text from "../values/Text.ts"

/** Tags are for filtering and counting; metadata, pairs of a name and a value, is for identifying. */
export const MAX_TAGS = 5
export const MAX_TAG_CHARS = 64

/** Pairs of a message. */
export const MAX_METADATA = 75
export const MAX_METADATA_NAME_CHARS = 64
export const MAX_METADATA_VALUE_CHARS = 500

export type Metadata = { readonly [name: string]: string }

export const Tag = Text.name(MAX_TAG_CHARS)
export const isTag = Schema.is(Tag)

/** Removes duplicate tags. */
export const distinct = (tags: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(tags)]

/** Returns what is wrong with a name of metadata, or `undefined`. */
export const metadataNameProblem = (name: string): string | undefined => {
  if (name === "") return "is a name that must not be empty"
  if (name.length > MAX_METADATA_NAME_CHARS)
    return `is a name of ${name.length} characters; at most ${MAX_METADATA_NAME_CHARS} are allowed`
  const problem = Text.nameProblem(name)
  return problem === undefined ? undefined : `is a name that ${problem}`
}

const isStored = Schema.is(Text.Stored)

/** Returns what is wrong with a value of metadata, or `undefined`. It may be empty, and have lines. */
export const metadataValueProblem = (value: string): string | undefined => {
  if (value.length > MAX_METADATA_VALUE_CHARS)
    return `is ${value.length} characters; at most ${MAX_METADATA_VALUE_CHARS} are allowed`
  return isStored(value) ? undefined : "must not contain NUL or an unpaired surrogate"
}

export const isPair = (name: string, value: string): boolean =>
  metadataNameProblem(name) === undefined && metadataValueProblem(value) === undefined

/** Returns the name of the pair that a label becomes which is no tag. `nth` is its place among the labels, from 1. */
export const furtherName = (nth: number): string => `label.${nth}`
const FURTHER_NAME = /^label\.\d{1,4}$/u

/**
 * Divides labels of another service into tags, and pairs for those that are too long for a tag or too many. `labelsOf`
 * joins them again.
 */
export const divide = (
  labels: ReadonlyArray<string>,
): { readonly tags: ReadonlyArray<string>; readonly metadata: Metadata } => {
  const tags = new Set<string>()
  const further: Array<readonly [name: string, label: string]> = []
  for (const [nth, label] of distinct(labels).entries())
    if (tags.size < MAX_TAGS && isTag(label)) tags.add(label)
    else further.push([furtherName(nth + 1), label])
  return { tags: [...tags], metadata: Object.fromEntries(further) }
}

/** Whether a pair of this name is a label that `divide` made none of the tags of. */
export const isFurther = (name: string): boolean => FURTHER_NAME.test(name)

/** Returns the labels that `divide` divided: the tags, then the others. */
export const labelsOf = (tags: ReadonlyArray<string>, metadata: Metadata): ReadonlyArray<string> => [
  ...tags,
  ...Object.entries(metadata)
    .filter(([name]) => isFurther(name))
    .map(([, label]) => label),
]

/** Returns the metadata without the pairs that are labels. */
export const pairsOf = (metadata: Metadata): Metadata =>
  Object.fromEntries(Object.entries(metadata).filter(([name]) => !isFurther(name)))
