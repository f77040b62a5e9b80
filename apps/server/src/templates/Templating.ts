import * as Checks from "@waybill/api/schemas/Checks"
import type { EmailMessage } from "@waybill/api/schemas/EmailMessage"
import type { TemplateChoice } from "@waybill/api/schemas/send/TemplateChoice"
import type { TemplatedMessage } from "@waybill/api/schemas/send/TemplatedMessage"
import * as RateLimit from "@waybill/domain/account/RateLimit"
import * as Livemode from "@waybill/domain/account/Livemode"
import type { UsedTemplate } from "@waybill/domain/email/Acceptance"
import * as Header from "@waybill/domain/email/Header"
import * as Turn from "@waybill/runtime/flow/Turn"
import * as TemplateRefusal from "@waybill/domain/template/TemplateRefusal"
import * as VariableSchema from "@waybill/domain/template/VariableSchema"
import * as Address from "@waybill/domain/values/Address"
import * as Id from "@waybill/domain/values/Id"
import { nearestName } from "@waybill/domain/values/nearestName"
import * as CurrentTemplates from "@waybill/store/readmodels/templates/CurrentTemplates"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import * as Deadline from "@waybill/templates/language/Deadline"
import * as Limits from "@waybill/templates/language/Limits"
import * as Rendering from "@waybill/templates/version/Rendering"
import { Clock, Effect, Equal, Result, Schema } from "effect"
import * as LateRenderings from "./LateRenderings.ts"
import * as Programs from "./Programs.ts"

/** A message whose words were made of a template. */
export interface Filled {
  readonly message: EmailMessage
  readonly used: UsedTemplate
}

export type Refusal =
  | TemplateRefusal.TemplateUnusable
  | TemplateRefusal.TemplateInvalid
  | TemplateRefusal.VariablesInvalid
  | TemplateRefusal.TemplateNotRendered
  | TemplateRefusal.TemplateIncomplete

/** Every refusal of a message is a 422, unlike that of an account or of a store that is away. */
export const isRefusal = (
  error: Refusal | TemplateRefusal.TooManyLateRenderings | StoreUnavailable,
): error is Refusal => error.status === 422

type Choice = Pick<TemplateChoice, "locale" | "time_zone" | "variables">

/** Returns which versions the templates of messages have now. Test mail is made of the templates of the account. */
export const lookUp = Effect.fnUntraced(function* (account_id: Id.AccountId, choices: ReadonlyArray<TemplateChoice>) {
  const names = [...new Set(choices.map(nameOf))]
  const { current } = yield* Programs.Programs
  const owner = Livemode.liveAccountOf(account_id)
  const found = yield* CurrentTemplates.find(owner, names)
  for (const name of names) {
    const each = found.get(name)
    if (each === undefined) current.delete(keyOf(account_id, name))
    else current.set(keyOf(account_id, name), each)
  }
  const unknown = names.filter((name) => !found.has(name))
  if (unknown.length === 0) return foundOf(found)
  const withoutAlias = yield* CurrentTemplates.withoutAlias(owner, unknown)
  const aliases = yield* CurrentTemplates.aliases(owner, MAX_COMPARED_ALIASES)
  const nearest = unknown.slice(0, MAX_COMPARED_NAMES).flatMap((name): ReadonlyArray<[string, string]> => {
    const alias = nearestName(name, aliases)
    return alias === undefined ? [] : [[name, alias]]
  })
  return foundOf(found, withoutAlias, new Map(nearest))
})

/** Most aliases of an account that a mistyped one is compared with, and mistyped ones of a batch. */
const MAX_COMPARED_ALIASES = 100
const MAX_COMPARED_NAMES = 5

const foundOf = (
  current: ReadonlyMap<string, CurrentTemplates.Current>,
  withoutAlias: ReadonlyMap<string, string> = new Map(),
  nearest: ReadonlyMap<string, string> = new Map(),
) => ({
  current,
  /** Ids of templates by what was taken for their alias and is their name. */
  withoutAlias,
  /** Aliases that were probably meant. */
  nearest,
  /** Refusals of versions that took too long with one of the messages: the others are refused without work. */
  late: new Map<string, TemplateRefusal.TemplateNotRendered | TemplateRefusal.VariablesInvalid>(),
})
export type Found = ReturnType<typeof foundOf>

const keyOf = (account_id: Id.AccountId, name: string): string => `${Livemode.liveAccountOf(account_id)} ${name}`

export const nameOf = ({ alias, id }: TemplateChoice): string => alias ?? id ?? ""

const isId = Schema.is(Id.TemplateId)

/** Names the alias that a message asks for. An id may be that of another service in our spelling, which its caller does not know. */
const unusable = (
  reason: TemplateRefusal.TemplateUnusable["reason"],
  asked: string,
  named?: string,
  nearest?: string,
) =>
  new TemplateRefusal.TemplateUnusable({
    reason,
    alias: isId(asked) ? null : asked,
    ...(named === undefined ? {} : { named }),
    ...(nearest === undefined ? {} : { nearest }),
  })

/** Makes a message of its template. A guess that was right is kept, also if it was a refusal. */
export const fill = (
  account_id: Id.AccountId,
  found: Found,
  message: TemplatedMessage,
  guess?: Guess,
): Effect.Effect<Filled, Effect.Error<Making>, Effect.Services<Making>> =>
  guess !== undefined &&
  Equal.equals(found.current.get(nameOf(message.template)), guess.current) &&
  Result.match(guess.filled, { onSuccess: () => true, onFailure: isRefusal })
    ? Effect.fromResult(guess.filled)
    : make(account_id, found, message)

type Making = ReturnType<typeof make>

const make = Effect.fnUntraced(function* (account_id: Id.AccountId, found: Found, message: TemplatedMessage) {
  const { template } = message
  const asked = nameOf(template)
  const current = found.current.get(asked)
  if (current === undefined)
    return yield* unusable("template_not_found", asked, found.withoutAlias.get(asked), found.nearest.get(asked))
  const problem = problemOf(current)
  if (problem !== undefined) return yield* unusable(problem, asked)
  const number = template.version ?? current.current
  const locale = template.locale ?? undefined
  const parsed = yield* Programs.version(Livemode.liveAccountOf(account_id), current, number, locale)
  if (parsed === undefined) return yield* unusable("template_version_not_found", asked)
  const { compiled, source } = parsed
  if (Result.isFailure(compiled)) return yield* new TemplateRefusal.TemplateInvalid({ problems: compiled.failure })
  const version = `${current.id} ${number} ${compiled.success.locale ?? ""}`
  const late = found.late.get(version)
  if (late !== undefined) return yield* late
  const { isLate, rendered: result } = yield* attempt(compiled.success, template, { account_id, version })
  if (Result.isFailure(result)) {
    const refusal = refusalOf(result.failure)
    if (isLate) found.late.set(version, refusal)
    return yield* refusal
  }
  const rendered = result.success
  const { html, text } = rendered
  const from = message.from ?? mailboxOf(source.from)
  const subject = message.subject ?? rendered.subject
  if (from === undefined || subject === null)
    return yield* new TemplateRefusal.TemplateIncomplete({
      missing: [
        ...(from === undefined ? (["from"] as const) : []),
        ...(subject === null ? (["subject"] as const) : []),
      ],
    })
  const wrong = Checks.sized(subject, Header.MAX_SUBJECT_CHARS) ?? Checks.problem(subject)
  if (wrong !== undefined)
    return yield* new TemplateRefusal.TemplateNotRendered({ problems: [{ path: "subject", message: wrong }] })
  const { template: _, ...rest } = message
  const reply_to =
    message.reply_to.length > 0 ? message.reply_to : source.reply_to.flatMap((address) => mailboxOf(address) ?? [])
  const written = rendered.missing.filter(({ path }) => path !== "subject" || (message.subject ?? null) === null)
  const missing = [...new Set(written.map(({ name }) => name))]
  return {
    message: { ...rest, from, subject, reply_to, html, text },
    used: {
      id: current.id,
      version: number,
      locale: compiled.success.locale,
      ...(missing.length === 0 ? {} : { missing }),
    },
  } satisfies Filled
})

/** A message that was made of what a template sent when it was last looked up. */
export interface Guess {
  readonly name: string
  readonly current: CurrentTemplates.Current
  readonly filled: Result.Result<Filled, Effect.Error<Making>>
}

/** Makes a message of its template without looking it up; undefined if that was not looked up before. */
export const guess = Effect.fnUntraced(function* (account_id: Id.AccountId, message: TemplatedMessage) {
  const name = nameOf(message.template)
  const current = (yield* Programs.Programs).current.get(keyOf(account_id, name))
  if (current === undefined) return undefined
  const filled = yield* Effect.result(make(account_id, foundOf(new Map([[name, current]])), message))
  return { name, current, filled } satisfies Guess
})

const problemOf = ({ archived, current, kind }: CurrentTemplates.Current) => {
  if (archived) return "template_archived"
  if (kind !== "template") return "template_not_a_template"
  return current === 0 ? "template_not_published" : undefined
}

/** An address was checked when the template was written. */
const mailboxOf = (text: string | null): Address.Mailbox | undefined => {
  const parsed = text === null ? undefined : Address.parse(text)
  return parsed === undefined || Result.isFailure(parsed) ? undefined : parsed.success
}

const TOO_LARGE = [
  { path: "", message: `have more than ${VariableSchema.MAX_VARIABLES_CHARS} characters in their texts and names` },
]

/** Processor time of this thread, which does not grow while other processes use the machine. */
const processorMillis = (): number => {
  const { system, user } = process.threadCpuUsage()
  return (system + user) / 1_000
}

interface Whose {
  readonly account_id: Id.AccountId
  /** The published version that is rendered; undefined if it is a draft. */
  readonly version?: string
}

/** Renders when it is the account's turn. */
const tryOnce = Effect.fnUntraced(function* (
  compiled: Rendering.Compiled,
  { locale, time_zone, variables }: Choice,
  { account_id, version }: Whose,
) {
  const { late } = yield* Programs.Programs
  yield* Turn.shared(account_id)
  const now = yield* Clock.currentTimeMillis
  if (late.isSpent(account_id, now))
    return yield* new TemplateRefusal.TooManyLateRenderings({
      limit: LateRenderings.MAX_LATE_PER_MINUTE,
      retry_after_s: RateLimit.retryAfterSeconds(now),
    })
  const mayRetry = version === undefined || !late.isKnown(version, now)
  const writing = { locale: locale ?? "en", time_zone: time_zone ?? "UTC" }
  const deadline = Deadline.within(Limits.RENDER_MS, processorMillis)
  const rendered = Rendering.render(compiled, variables ?? {}, writing, deadline)
  const isLate = Result.isFailure(rendered) && rendered.failure.isLate
  // A rendering that took too long held up other work, also if it was done in the end.
  if (isLate || deadline.isOver(true)) late.add(account_id, version, now)
  return { rendered, isLate, mayRetry }
})

/**
 * Renders when it is the account's turn. What takes too long is tried once more, because the first time code may have
 * been compiled and memory cleaned up; but not if another rendering of the version took too long in this minute.
 */
const attempt = Effect.fnUntraced(function* (compiled: Rendering.Compiled, choice: Choice, whose: Whose) {
  if (VariableSchema.areTooLarge(choice.variables ?? {}))
    return yield* new TemplateRefusal.VariablesInvalid({ problems: TOO_LARGE })
  const first = yield* tryOnce(compiled, choice, whose)
  return first.isLate && first.mayRetry ? yield* tryOnce(compiled, choice, whose) : first
})

const refusalOf = ({ cause, problems }: Rendering.Failure) =>
  cause === "variables"
    ? new TemplateRefusal.VariablesInvalid({ problems })
    : new TemplateRefusal.TemplateNotRendered({ problems })

/** Renders what is not published. */
export const render = Effect.fnUntraced(function* (
  account_id: Id.AccountId,
  compiled: Rendering.Compiled,
  choice: Choice,
) {
  const { rendered } = yield* attempt(compiled, choice, { account_id })
  return Result.isSuccess(rendered) ? rendered.success : yield* refusalOf(rendered.failure)
})
