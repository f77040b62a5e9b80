import { Schema } from "effect"
import * as Text from "./Text.ts"

export const MAX_TAGS = 5
export const MAX_TAG_CHARS = 64

export const Tag = Schema.String.check(
  Schema.isMinLength(1),
  Schema.isMaxLength(MAX_TAG_CHARS),
  Schema.makeFilter((tag: string) => {
    if (Text.hasControl(tag)) return "must not contain control characters"
    return Text.isWellFormed(tag) || "is not well-formed Unicode"
  }),
)

/** A tag given twice counts once. */
export const distinct = (tags: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(tags)]
