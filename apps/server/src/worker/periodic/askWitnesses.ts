import type * as Network from "@waybill/mail/dns/Network"
import * as PinnedRequest from "@waybill/mail/dns/PinnedRequest"
import { repeatWork, type StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import type * as Checkpoints from "@waybill/store/transparency/Checkpoints"
import * as Cosignatures from "@waybill/store/transparency/Cosignatures"
import { parseNote, verifyNote } from "@waybill/verify/SignedNote"
import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import { Data, Duration, Effect } from "effect"
import * as CosignatureMetrics from "../../observability/Cosignatures.ts"
import type { LogWitness } from "../../settings/Witnesses.ts"
import * as AddCheckpoint from "../../witness/AddCheckpoint.ts"

/** Time for the answer of a witness. The signature of the log waits for none. */
export const ASK_TIMEOUT = Duration.seconds(5)
/** Maximum bytes of an answer, with its head and TLS. */
export const ASK_WIRE_BYTES = 64 * 1024
const ASK_EVERY = Duration.seconds(1)
/** Time for which a process asks, at most two requests to each witness. */
const CLAIM_SECONDS = 15
/** Pauses of a witness that does not sign: doubled each time, from and up to these. */
const FIRST_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 60_000

/** A witness has not signed. */
class NotCosigned extends Data.TaggedError("NotCosigned")<{
  readonly outcome: CosignatureMetrics.CosignatureOutcome
  readonly reason: string
}> {}

interface Asked {
  /** Size that the witness has signed last, as far as this process knows. */
  size: number
  failures: number
  pausedUntil: number
}

/** Asks witnesses to sign the heads of the log of the fiber's database, until the scope closes. */
export const askWitnesses = (witnesses: ReadonlyArray<LogWitness>, allowed: Network.Networks) => {
  if (witnesses.length === 0) return Effect.void
  const states = new Map(witnesses.map(({ text }) => [text, { size: 0, failures: 0, pausedUntil: -Infinity } as Asked]))
  const failed = "witnesses could not be asked; they will be asked again"
  return repeatWork(Effect.as(round(witnesses, states, allowed), ASK_EVERY), { failed, retryAfter: ASK_EVERY })
}

/** Sends the newest head to the witnesses that have not signed it, and stores their signatures. */
const round = Effect.fnUntraced(function* (
  witnesses: ReadonlyArray<LogWitness>,
  states: ReadonlyMap<string, Asked>,
  allowed: Network.Networks,
) {
  const now = yield* MonotonicClock.millis
  const head = yield* Cosignatures.newest
  const missing = witnesses.filter(
    ({ text }) => (states.get(text)?.pausedUntil ?? 0) <= now && head?.witnesses.includes(text) === false,
  )
  if (head === undefined || missing.length === 0 || !(yield* Cosignatures.claim(CLAIM_SECONDS))) return
  yield* Effect.gen(function* () {
    const signed = yield* Effect.forEach(missing, askInTurn(states, head.tree, allowed), { concurrency: "unbounded" })
    if (signed.flat().length > 0) yield* Cosignatures.store(head.tree, signed.flat())
  }).pipe(Effect.ensuring(Effect.ignore(Cosignatures.release)))
})

const askInTurn = (states: ReadonlyMap<string, Asked>, tree: Checkpoints.Tree, allowed: Network.Networks) =>
  Effect.fnUntraced(function* (witness: LogWitness) {
    const state = states.get(witness.text)
    if (state === undefined) return []
    const result = yield* Effect.result(ask(witness, state, tree, allowed))
    if (result._tag === "Success") {
      if (result.success === undefined) return []
      CosignatureMetrics.answered("signed")
      state.failures = 0
      state.size = tree.size
      return [{ witness: witness.text, line: result.success }]
    }
    if (result.failure._tag !== "NotCosigned") return yield* Effect.fail(result.failure)
    const { outcome, reason } = result.failure
    CosignatureMetrics.answered(outcome)
    state.pausedUntil = (yield* MonotonicClock.millis) + Math.min(FIRST_PAUSE_MS * 2 ** state.failures, MAX_PAUSE_MS)
    state.failures++
    const fields = { witness: witness.key.name, origin: tree.origin, size: tree.size, reason }
    yield* outcome === "refused"
      ? Effect.logError("witness has refused a checkpoint of this log, as one of another history", fields)
      : state.failures === 1
        ? Effect.logWarning("witness has not signed a checkpoint; it will be asked again", fields)
        : Effect.void
    return []
  })

const ask = (
  witness: LogWitness,
  state: Asked,
  tree: Checkpoints.Tree,
  allowed: Network.Networks,
  isSecond = false,
): Effect.Effect<string | undefined, NotCosigned | StoreUnavailable, Effect.Services<ReturnType<typeof exchange>>> =>
  Effect.gen(function* () {
    const old = Math.min(state.size, tree.size)
    const { body, status } = yield* exchange(witness, old, tree, allowed)
    const text = body.toString("utf8")
    if (status === 200) return yield* lineOf(witness, tree.note, text)
    if (status === 409 && !isSecond && /^\d{1,15}\n$/u.test(text)) {
      state.size = Number(text)
      // It has read a newer head by itself, which it signs next.
      if (state.size > tree.size) return undefined
      return yield* ask(witness, state, tree, allowed, true)
    }
    return yield* new NotCosigned({
      outcome: status === 422 ? "refused" : "failed",
      reason: `it answered with the status ${status}: ${text.slice(0, MAX_REASON_CHARS).trim()}`,
    })
  })

const MAX_REASON_CHARS = 200

const exchange = Effect.fnUntraced(function* (
  { url }: LogWitness,
  old: number,
  tree: Checkpoints.Tree,
  allowed: Network.Networks,
) {
  const proof = (yield* Cosignatures.consistency(old, tree)).map((hash) => Uint8Array.from(hash))
  const body = AddCheckpoint.encode({ old, proof, note: tree.note })
  const options = { body, allowed, timeout: ASK_TIMEOUT, max_bytes: ASK_WIRE_BYTES }
  return yield* Effect.mapError(
    PinnedRequest.send(`${url}${AddCheckpoint.PATH}`, options),
    ({ message }) => new NotCosigned({ outcome: "failed", reason: message }),
  )
})

/** Returns the line of the answer that the key of the witness has signed. */
const lineOf = ({ key }: LogWitness, note: string, answer: string) =>
  Effect.tryPromise({
    try: async () => {
      for (const line of answer.split("\n")) {
        if (!line.startsWith(`\u2014 ${key.name} `)) continue
        if ((await verifyNote(parseNote(`${note}${line}\n`), key)).result === "valid") return line
      }
      throw new Error("the answer has no valid signature of its key")
    },
    catch: (cause) => new NotCosigned({ outcome: "failed", reason: (cause as Error).message }),
  })
