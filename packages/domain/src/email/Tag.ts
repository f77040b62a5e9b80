import { Schema } from "effect"
import * as Text from "../values/Text.ts"

export const MAX_TAGS = 5
export const MAX_TAG_CHARS = 64

export const Tag = Text.name(MAX_TAG_CHARS)
export const isTag = Schema.is(Tag)

/** Removes duplicate tags. */
export const distinct = (tags: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(tags)]
