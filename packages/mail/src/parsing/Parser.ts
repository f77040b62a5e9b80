import { Context, Data, Effect, Metric } from "effect"
import * as Jobs from "./Jobs.ts"
import { type ParseOutcome, ParserPool } from "./ParserPool.ts"
import type { Why } from "./ParserThread.ts"

/** Too many documents wait: nothing was read, and the same document may be sent again. */
export class Busy extends Data.TaggedError("Busy")<{}> {}

/** The document was not read to its end: it took too much time or memory, or the parser failed. */
export class Killed extends Data.TaggedError("Killed")<{ readonly why: Why }> {}

/** The pool of the process; its threads start with the first document that needs one. */
const pool = new ParserPool()

/** The pool that reads untrusted documents. Tests provide one with other limits. */
export const Pool = Context.Reference<ParserPool>("@waybill/mail/parsing/Parser/Pool", { defaultValue: () => pool })

/** Number of threads that judge the senders of mail, apart from those that read it, so that a slow one keeps nobody else waiting. */
const SENDER_THREADS = 2
const senderPool = new ParserPool({ threads: SENDER_THREADS })

/** The pool that judges the senders of mail that comes in. */
export const SenderPool = Context.Reference<ParserPool>("@waybill/mail/parsing/Parser/SenderPool", {
  defaultValue: () => senderPool,
})

const documents = Metric.counter("waybill_parsed_documents_total", {
  description: "Documents from outside that were read, by grammar and by what the reading came to",
  incremental: true,
})

const NOWHERE = Context.empty()
const OUTCOMES = ["read", "busy", "deadline", "memory", "crash"] as const

/** All series exist from the start, so that the first increase of each is seen. */
const series = new Map(
  Object.keys(Jobs.jobs).flatMap((grammar) =>
    OUTCOMES.map((outcome) => {
      const counter = Metric.withAttributes(documents, { grammar, outcome })
      counter.updateUnsafe(0, NOWHERE)
      return [`${grammar} ${outcome}`, counter] as const
    }),
  ),
)

const count = (grammar: Jobs.Name, outcome: "read" | "busy" | Why): void =>
  series.get(`${grammar} ${outcome}`)?.updateUnsafe(1, NOWHERE)

export interface Options {
  /** Set by callers that bound their own number of waiting documents; the pool never tells them that it is busy. */
  readonly patient?: boolean
  readonly pool?: Context.Reference<ParserPool>
}

/** Reads an untrusted document in bounded time and memory, in turn with those of other accounts. */
export const run = <N extends Jobs.Name>(
  name: N,
  input: Jobs.Input<N>,
  account: string,
  { patient = false, pool = Pool }: Options = {},
): Effect.Effect<Jobs.Output<N>, Busy | Killed> =>
  Effect.flatMap(pool, (pool) =>
    Effect.flatMap(
      Effect.callback<ParseOutcome>((resume) => {
        const takeBack = pool.read(name, input, { account, patient }, (outcome) => resume(Effect.succeed(outcome)))
        return Effect.sync(takeBack)
      }),
      (outcome): Effect.Effect<Jobs.Output<N>, Busy | Killed> => {
        if (outcome._tag === "Done") {
          count(name, "read")
          return Effect.succeed(outcome.value as Jobs.Output<N>)
        }
        if (outcome._tag === "Busy") {
          count(name, "busy")
          return Effect.fail(new Busy())
        }
        const { cause, why } = outcome
        count(name, why)
        return Effect.andThen(
          Effect.logWarning("a document could not be parsed and is treated as unreadable", {
            grammar: name,
            account,
            code: why,
            ...(cause === undefined ? {} : { message: cause }),
          }),
          Effect.fail(new Killed({ why })),
        )
      },
    ),
  )
