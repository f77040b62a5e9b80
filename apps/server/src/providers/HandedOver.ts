import type { EmailId } from "@waybill/domain/values/Id"
import * as ProviderHooks from "@waybill/store/providers/ProviderHooks"
import * as ProviderMessages from "@waybill/store/providers/ProviderMessages"
import { Duration, Effect, Layer } from "effect"
import { AT_HOME, cachedSet } from "../process/cachedSet.ts"
import { HandedOver, type Note } from "../worker/delivery/HandedOver.ts"
import * as Event from "./formats/ProviderEvent.ts"

/** Interval at which a worker learns of the first hook. */
export const HOOKS_EVERY = Duration.seconds(10)
/** Ids of one hand-over that are kept. */
const MAX_REFS = 8

const ANY = "any"

export const layer = (every: Duration.Duration = HOOKS_EVERY) =>
  Layer.effect(
    HandedOver,
    Effect.map(
      cachedSet(
        "hooks of providers",
        every,
        Effect.map(ProviderHooks.list(), (hooks) => (hooks.length > 0 ? [ANY] : [])),
        AT_HOME,
      ),
      (hooks): Note =>
        (message, outcomes) => {
          if (!hooks.has(ANY)) return Effect.void
          const refs = outcomes.flatMap((outcome) =>
            outcome._tag === "Delivered" || outcome._tag === "Sent" ? refsIn(outcome.words.response ?? "") : [],
          )
          const others = [...new Set(refs)].filter((ref) => !isOwn(ref, message.email_id)).slice(0, MAX_REFS)
          return others.length === 0 ? Effect.void : ProviderMessages.keep(others, message)
        },
    ),
  )

const isOwn = (ref: string, id: EmailId): boolean => ref === id

/** Forms in which providers name a message in the answer that takes it. */
const FORMS: ReadonlyArray<RegExp> = [
  /<([^<>\s]{8,200})>/u,
  /\b([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b/iu,
  /\bqueued as:? ([\w./-]{8,200})/iu,
  /\b(?:ok|accepted|success),? ([\w./-]{12,200})/iu,
  /^(?:250 )?([\w.@/-]{12,200})$/u,
]

/** Returns the ids in the answer to a hand-over. */
export const refsIn = (response: string): ReadonlyArray<string> =>
  FORMS.flatMap((form) => Event.refOf(form.exec(response)?.[1]) ?? [])
