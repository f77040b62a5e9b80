import { Schema } from "effect"
import * as Text from "@waybill/domain/values/Text"
import * as Checks from "./Checks.ts"

/** Path of the saved views of the signed-in user. It is not part of the public contract. */
export const PATH = "/v1/dashboard/views"

export const MAX_NAME_CHARS = 60
export const MAX_SEARCH_CHARS = 500

const isName = Schema.makeFilter<string>((name) =>
  name.trim() === "" ? "must not be empty" : (Text.nameProblem(name) ?? true),
)

export const SavedView = Schema.Struct({
  name: Schema.String.check(Checks.chars(MAX_NAME_CHARS, 1), isName),
  /** The text of the search box. */
  search: Schema.String.check(Checks.chars(MAX_SEARCH_CHARS, 1), Checks.oneLine),
})
export type SavedView = typeof SavedView.Type
