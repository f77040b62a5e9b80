import { withSortedKeys } from "@waybill/runtime/collections/withSortedKeys"
import type * as State from "@waybill/domain/template/TemplateState"
import { createHash } from "node:crypto"

const CHARS = 32

/** The names and the draft of a template, as a push writes them. */
export interface Tagged extends State.Naming {
  readonly kind: State.TemplateKind
  readonly draft: State.TemplateSource
}

/** Returns a tag that is equal for equal names and drafts, whatever the order of their fields. */
export const of = ({ alias, description, draft, kind, name }: Tagged): string =>
  createHash("sha256")
    .update(JSON.stringify({ alias, description, draft, kind, name }, withSortedKeys))
    .digest("hex")
    .slice(0, CHARS)
