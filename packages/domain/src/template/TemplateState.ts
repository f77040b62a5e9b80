import { Schema } from "effect"
import * as Id from "../values/Id.ts"
import { StoredJson } from "../values/StoredJson.ts"
import * as Text from "../values/Text.ts"
import * as Timestamp from "../values/Timestamp.ts"

/** A template is sent; a layout goes around templates; a partial stands in them. */
export const TemplateKind = Schema.Literals(["template", "layout", "partial"]).annotate({ identifier: "TemplateKind" })
export type TemplateKind = typeof TemplateKind.Type

/** The language of the words. Those of other services are kept as they came, and translated to Liquid to be rendered. */
export const TemplateLanguage = Schema.Literals(["liquid", "handlebars", "mustachio", "resend"]).annotate({
  identifier: "TemplateLanguage",
})
export type TemplateLanguage = typeof TemplateLanguage.Type

const words = {
  subject: Schema.NullOr(Text.Stored),
  html: Schema.NullOr(Text.Stored),
  text: Schema.NullOr(Text.Stored),
  preheader: Schema.NullOr(Text.Stored),
}

/** The words of a template in one language. What is null is taken from the wider language, at last from the template. */
export const Words = Schema.Struct(words)
export type Words = typeof Words.Type

/** The words of a template, and what belongs to them. */
export const TemplateSource = Schema.Struct({
  ...words,
  /** Absent for Liquid. */
  language: Schema.optionalKey(TemplateLanguage),
  from: Schema.NullOr(Text.Stored),
  reply_to: Schema.Array(Text.Stored),
  /** Alias of the layout around it. */
  layout: Schema.NullOr(Text.Stored),
  /** Words in other languages, by BCP 47 tag. */
  locales: Schema.Record(Text.Stored, Words),
  /** JSON Schema of the variables; `null` checks none. */
  variables: Schema.NullOr(StoredJson),
})
export type TemplateSource = typeof TemplateSource.Type

export const EMPTY: TemplateSource = {
  subject: null,
  html: null,
  text: null,
  preheader: null,
  from: null,
  reply_to: [],
  layout: null,
  locales: {},
  variables: null,
}

const naming = {
  alias: Schema.NullOr(Text.Stored),
  name: Text.Stored,
  description: Schema.NullOr(Text.Stored),
}
export interface Naming {
  readonly alias: string | null
  readonly name: string
  readonly description: string | null
}

const at = Timestamp.Timestamp

export const Event = Schema.TaggedUnion({
  TemplateCreated: { template_id: Id.TemplateId, kind: TemplateKind, ...naming, draft: TemplateSource, at },
  /** The draft and its names after a change. */
  TemplateChanged: { ...naming, draft: TemplateSource, at },
  /** A version, which never changes again, is what is sent from now on. */
  TemplatePublished: {
    template_id: Id.TemplateId,
    number: Schema.Natural,
    source: TemplateSource,
    notes: Schema.NullOr(Text.Stored),
    /** The key or user that published it. */
    created_by: Schema.NullOr(Text.Stored),
    at,
  },
  /** A former version is what is sent from now on. */
  TemplateRolledBack: { template_id: Id.TemplateId, number: Schema.Natural, at },
  TemplateArchived: { template_id: Id.TemplateId, at },
})
export type Event = typeof Event.Type
export type Published = typeof Event.cases.TemplatePublished.Type

/** Events for which the state knows the versions that they published; older versions are in the read model. */
export const REMEMBERED_EVENTS = 8

export interface Version {
  readonly published: Published
  /** Number of the event that published it. */
  readonly event: number
}

export interface ExistingTemplate extends Naming {
  readonly _tag: "Template"
  readonly template_id: Id.TemplateId
  readonly kind: TemplateKind
  readonly draft: TemplateSource
  readonly archived: boolean
  /** Number of the version that is sent; 0 before the first. */
  readonly current: number
  /** Number of versions. */
  readonly versions: number
  readonly recent: ReadonlyArray<Version>
  /** Number of events, whether or not they changed anything. */
  readonly version: number
  readonly created_at: Timestamp.Timestamp
  readonly updated_at: Timestamp.Timestamp
}

export type State = { readonly _tag: "NotCreated"; readonly version: number } | ExistingTemplate

export const initial: State = { _tag: "NotCreated", version: 0 }

export const evolve = (state: State, event: Event): State => {
  const version = state.version + 1
  if (state._tag !== "Template")
    return event._tag === "TemplateCreated" ? created(event, version) : { ...state, version }
  if (event._tag === "TemplateCreated") return { ...state, version }
  const recent = state.recent.filter((each) => each.event > version - REMEMBERED_EVENTS)
  const next = { ...state, version, recent, updated_at: event.at }
  switch (event._tag) {
    case "TemplateChanged": {
      const { alias, description, draft, name } = event
      return { ...next, alias, name, description, draft }
    }
    case "TemplatePublished": {
      const { number, source } = event
      const others = recent.filter(({ published }) => published.number !== number)
      return {
        ...next,
        draft: source,
        current: number,
        versions: number,
        recent: [...others, { published: event, event: version }],
      }
    }
    case "TemplateRolledBack":
      return { ...next, current: event.number }
    case "TemplateArchived":
      return { ...next, archived: true, alias: null }
  }
}

const created = (
  { alias, at, description, draft, kind, name, template_id }: typeof Event.cases.TemplateCreated.Type,
  version: number,
): ExistingTemplate => ({
  _tag: "Template",
  template_id,
  kind,
  alias,
  name,
  description,
  draft,
  archived: false,
  current: 0,
  versions: 0,
  recent: [],
  version,
  created_at: at,
  updated_at: at,
})
