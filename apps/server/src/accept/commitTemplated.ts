import type { TemplatedMessage } from "@waybill/api/schemas/send/TemplatedMessage"
import { Data, Effect, Equal, Result } from "effect"
import * as Templating from "../templates/Templating.ts"
import * as RequestCommit from "./RequestCommit.ts"

/** The template is another one than the message was made of. */
class TemplateChanged extends Data.TaggedError("TemplateChanged") {}

/**
 * Commits one message of a template. It is made of the version that was sent last, without looking the template up, and
 * accepted if the commit finds that version to be the current one. Otherwise it is made again. A repeated request gets the
 * answer of the first, though the template may have changed since.
 */
export const commitTemplated = Effect.fnUntraced(function* <A, E>(
  target: RequestCommit.Target,
  message: TemplatedMessage,
  accepting: (filled: Templating.Filled) => RequestCommit.Work<A, E>,
  encoding?: RequestCommit.Encoding<A>,
) {
  const { account_id } = target
  const guessed = yield* Templating.guess(account_id, message)
  const again = Effect.suspend(() => {
    const filling = Templating.fillOne(account_id, message, guessed)
    return RequestCommit.commitBy(target, Effect.map(filling, accepting), { encoding })
  })
  if (guessed === undefined || Result.isFailure(guessed.filled)) return yield* again
  const { decide, ...work } = accepting(guessed.filled.success)
  const name = Templating.nameOf(message.template)
  const checked: RequestCommit.Work<A, E | TemplateChanged> = {
    ...work,
    needs: { ...work.needs, templates: [name] },
    decide: (view) =>
      Equal.equals(view.facts.template(account_id, name), guessed.current)
        ? decide(view)
        : Result.fail(new TemplateChanged()),
  }
  return yield* Effect.catchIf(
    RequestCommit.commitBy(target, Effect.succeed(checked), { encoding, isReady: true }),
    (error) => error instanceof TemplateChanged,
    () => again,
  )
})
