import { Array, Equal, Result } from "effect"
import type * as Aggregate from "../values/Aggregate.ts"
import type * as Id from "../values/Id.ts"
import { NothingNew } from "../values/Refusal.ts"
import type * as Timestamp from "../values/Timestamp.ts"
import * as TemplateRefusal from "./TemplateRefusal.ts"
import * as TemplateState from "./TemplateState.ts"
import type { Event, TemplateKind, Naming, TemplateSource, State, ExistingTemplate } from "./TemplateState.ts"

export { Event, evolve, initial, type State } from "./TemplateState.ts"

/** One stream per template, layout or partial. */
export const stream = "template" as const

export const MAX_NAME_CHARS = 200
export const MAX_DESCRIPTION_CHARS = 500
export const MAX_NOTES_CHARS = 1_000
/** Maximum number of languages of a template besides its own. */
export const MAX_LOCALES = 50

/** Names in requests. Nothing that looks like an id can be one. */
export const ALIAS = /^(?!tpl_)[A-Za-z][\w.-]{0,63}$/u

/** Tags of BCP 47. */
export const LOCALE = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/u
export const isLocale = (tag: string): boolean => {
  try {
    return LOCALE.test(tag) && Intl.getCanonicalLocales(tag).length === 1
  } catch {
    return false
  }
}

type Decide<Error> = Aggregate.Decide<State, Event, Error>

/** Facts about the other templates of the account. */
export interface Others {
  /** Number of templates that are not archived. */
  readonly count: number
  /** The template that has an alias. */
  readonly withAlias: (alias: string) => string | undefined
}

export interface NewTemplate extends Naming {
  readonly template_id: Id.TemplateId
  readonly kind: TemplateKind
  readonly draft: TemplateSource
}

const free = (
  { withAlias }: Others,
  alias: string | null,
  id: string,
): Result.Result<void, TemplateRefusal.AliasTaken> => {
  const owner = alias === null ? undefined : withAlias(alias)
  return owner === undefined || owner === id || alias === null
    ? Result.void
    : Result.fail(new TemplateRefusal.AliasTaken({ alias }))
}

export const create =
  (
    now: Timestamp.Timestamp,
    others: Others,
    template: NewTemplate,
  ): Decide<TemplateRefusal.AliasTaken | TemplateRefusal.TooManyTemplates | NothingNew> =>
  (state) => {
    if (state._tag !== "NotCreated") return Result.fail(new NothingNew())
    if (others.count >= TemplateRefusal.MAX_TEMPLATES) return Result.fail(new TemplateRefusal.TooManyTemplates())
    return Result.map(free(others, template.alias, template.template_id), () =>
      Array.of<Event>({ _tag: "TemplateCreated", ...template, at: now }),
    )
  }

const ofTemplate =
  <Error>(
    decide: (template: ExistingTemplate) => Result.Result<Array.NonEmptyReadonlyArray<Event>, Error>,
  ): Decide<Error | TemplateRefusal.TemplateNotFound | TemplateRefusal.TemplateArchived> =>
  (state) => {
    if (state._tag !== "Template") return Result.fail(new TemplateRefusal.TemplateNotFound())
    return state.archived ? Result.fail(new TemplateRefusal.TemplateArchived()) : decide(state)
  }

/** A change of names and draft; absent fields stay as they are. A draft in Liquid names no language, so it is asked for by name. */
export interface Change extends Partial<Naming> {
  readonly draft?: Partial<TemplateSource>
  /** Time of the last change that the author has seen; `null` for any. */
  readonly unchanged_since?: Timestamp.Timestamp | null
}

const isSeen = ({ updated_at }: ExistingTemplate, since: Timestamp.Timestamp | null): boolean =>
  since === null || updated_at === since

export const change = (now: Timestamp.Timestamp, others: Others, { draft, unchanged_since = null, ...names }: Change) =>
  ofTemplate<TemplateRefusal.AliasTaken | TemplateRefusal.DraftChanged | NothingNew>((template) => {
    if (!isSeen(template, unchanged_since)) return Result.fail(new TemplateRefusal.DraftChanged())
    const { alias, description, name } = { ...template, ...names }
    const { language, ...merged } = { ...template.draft, ...draft }
    const after: TemplateSource = language === undefined || language === "liquid" ? merged : { ...merged, language }
    const before = {
      alias: template.alias,
      name: template.name,
      description: template.description,
      draft: template.draft,
    }
    if (Equal.equals(before, { alias, name, description, draft: after })) return Result.fail(new NothingNew())
    return Result.map(free(others, alias, template.template_id), () =>
      Array.of<Event>({ _tag: "TemplateChanged", alias, name, description, draft: after, at: now }),
    )
  })

/** How a version is published. */
export interface Publishing {
  readonly created_by: string | null
  readonly notes: string | null
  /** Whether it is what is sent from now on. */
  readonly activates: boolean
}

/** The version that is sent. */
export interface Sent {
  readonly number: number
  readonly source: TemplateSource
  readonly notes: string | null
}

/** Whether what is sent is the draft already. A note of its own asks for a version of its own. */
export const isSent = (state: State, { notes }: Pick<Publishing, "notes">, sent: Sent | undefined): sent is Sent =>
  state._tag === "Template" &&
  sent?.number === state.current &&
  Equal.equals(sent.source, state.draft) &&
  (notes === null || notes === sent.notes)

/** Makes the next version of the draft, which must be the one that was checked; none of a draft that is sent already. */
export const publish = (
  now: Timestamp.Timestamp,
  checked: TemplateSource,
  { activates, created_by, notes }: Publishing,
  unchanged_since: Timestamp.Timestamp | null = null,
  sent: Sent | undefined = undefined,
) =>
  ofTemplate<TemplateRefusal.DraftChanged | NothingNew>((template) => {
    const { current, draft, template_id, versions } = template
    if (!isSeen(template, unchanged_since) || !Equal.equals(draft, checked))
      return Result.fail(new TemplateRefusal.DraftChanged())
    if (isSent(template, { notes }, sent)) return Result.fail(new NothingNew())
    const number = versions + 1
    const published: Event = {
      _tag: "TemplatePublished",
      template_id,
      number,
      source: draft,
      created_by,
      notes,
      at: now,
    }
    return Result.succeed(
      activates
        ? Array.of<Event>(published)
        : Array.make<[Event, Event]>(published, { _tag: "TemplateRolledBack", template_id, number: current, at: now }),
    )
  })

/** A push of a template: what it should be and, if it is to be published, by whom and whether that is what is sent now. */
export interface Push extends NewTemplate {
  readonly publication: {
    readonly created_by: string | null
    readonly notes: string | null
    readonly isSent: boolean
  } | null
}

/** Creates a template, or makes it what it should be as a whole, and publishes it unless it is what is sent already. */
export const push =
  (now: Timestamp.Timestamp, others: Others, { publication, ...template }: Push): Decide<TemplateRefusal.PushRefusal> =>
  (before) => {
    const written =
      before._tag === "NotCreated" ? create(now, others, template)(before) : replace(now, others, template, before)
    if (Result.isFailure(written) && written.failure._tag !== "NothingNew") return Result.fail(written.failure)
    const events = Result.getOrElse(written, (): ReadonlyArray<Event> => [])
    const after = events.reduce(TemplateState.evolve, before)
    if (publication === null || publication.isSent || after._tag !== "Template") return append(events)
    const { created_by, notes } = publication
    return Result.flatMap(publish(now, template.draft, { created_by, notes, activates: true })(after), (published) =>
      append([...events, ...published]),
    )
  }

const replace = (
  now: Timestamp.Timestamp,
  others: Others,
  { alias, description, draft, kind, name }: NewTemplate,
  before: ExistingTemplate,
): Result.Result<ReadonlyArray<Event>, TemplateRefusal.PushRefusal> => {
  if (before.archived) return Result.fail(new TemplateRefusal.TemplateArchived())
  if (before.kind !== kind) return Result.fail(new TemplateRefusal.PushConflict())
  const after = { alias, name, description, draft }
  const former = { alias: before.alias, name: before.name, description: before.description, draft: before.draft }
  if (Equal.equals(former, after)) return Result.fail(new NothingNew())
  return Result.map(free(others, alias, before.template_id), () => [{ _tag: "TemplateChanged", ...after, at: now }])
}

const append = (events: ReadonlyArray<Event>) =>
  Array.isReadonlyArrayNonEmpty(events) ? Result.succeed(events) : Result.fail(new NothingNew())

/** Sends a former version from now on. The draft stays as it is. */
export const rollBack = (now: Timestamp.Timestamp, number: number) =>
  ofTemplate<NothingNew | TemplateRefusal.VersionNotFound>(({ current, template_id, versions }) => {
    if (number < 1 || number > versions) return Result.fail(new TemplateRefusal.VersionNotFound())
    return number === current
      ? Result.fail(new NothingNew())
      : Result.succeed(Array.of<Event>({ _tag: "TemplateRolledBack", template_id, number, at: now }))
  })

/** Archives a template: nothing more is sent by it, and its alias is free. Its versions stay. */
export const archive = (now: Timestamp.Timestamp) =>
  ofTemplate<never>(({ template_id }) =>
    Result.succeed(Array.of<Event>({ _tag: "TemplateArchived", template_id, at: now })),
  )
