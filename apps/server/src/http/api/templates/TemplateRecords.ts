import type { ListedTemplate, ListedVersion, TemplateRecord } from "@waybill/api/groups/templates/TemplateRecords"
import type * as Template from "@waybill/domain/template/Template"
import type { TemplateId } from "@waybill/domain/values/Id"
import type { Timestamp } from "@waybill/domain/values/Timestamp"
import * as Etag from "../../../templates/Etag.ts"
import { Equal } from "effect"
import * as Templates from "@waybill/store/readmodels/templates/Templates"
import type * as TemplateVersions from "@waybill/store/readmodels/templates/TemplateVersions"

/** Returns a template as the API lists it. */
export const listed = (
  record: Templates.TemplateRecord,
  { draft_differs, languages, missing_parts }: Templates.Standing,
  used_at: Timestamp | null = null,
): ListedTemplate => {
  return {
    object: "template",
    ...record,
    draft_differs,
    missing_parts,
    languages,
    used_at,
  }
}

export const listedVersion = (template_id: TemplateId, version: TemplateVersions.VersionRecord): ListedVersion => ({
  object: "template_version",
  template_id,
  ...version,
})

/** Returns a template with its draft; `used_at` is when it was last used. */
export const whole = (
  { draft, record, ...standing }: Templates.Found,
  used_at: Timestamp | null = null,
): TemplateRecord => ({
  ...listed(record, standing, used_at),
  draft: { ...UNPUBLISHED, ...draft },
  etag: Etag.of({ ...record, draft }),
})

/** Fields that only a published version has. */
const UNPUBLISHED = { number: null, notes: null, created_by: null, published_at: null }

interface Known {
  readonly used_at?: Timestamp | null
  /** The version that was sent before, or is sent from now on. */
  readonly sent?: Template.Sent | undefined
  readonly missing_parts?: ReadonlyArray<string>
}

export const recordOf = (
  state: Template.State,
  { missing_parts = [], sent, used_at = null }: Known = {},
): TemplateRecord => {
  if (state._tag !== "Template") throw new Error("decided about a template that does not exist")
  const newer = state.recent.find(({ published }) => published.number === state.current)?.published
  const source = newer?.source ?? (sent?.number === state.current ? sent.source : undefined)
  const { draft } = state
  const draft_differs = !Equal.equals(source, draft)
  const languages = Object.keys(draft.locales).toSorted()
  return whole({ record: Templates.recordOf(state), draft, draft_differs, missing_parts, languages }, used_at)
}

/** Returns the version that was published last. */
export const newestOf = (state: Template.State): ListedVersion => {
  const newest = state._tag === "Template" ? state.recent.at(-1)?.published : undefined
  if (newest === undefined) throw new Error("published a template that does not exist")
  const { at, created_by, notes, number, template_id } = newest
  return listedVersion(template_id, { number, notes, created_by, published_at: at })
}
