import { areEqual, sha256 } from "@waybill/verify/Bytes"
import { verifyConsistency } from "@waybill/verify/MerkleProof"
import { type Checkpoint, parseCheckpoint, parseNote, type SignedNote } from "@waybill/verify/SignedNote"
import { signedCheckpoint } from "@waybill/verify/signedCheckpoint"
import { Clock, Data, Effect, Semaphore } from "effect"
import * as AddCheckpoint from "./AddCheckpoint.ts"
import type { Cosigner } from "./Cosigner.ts"
import * as Fork from "./Fork.ts"
import * as SeenLogs from "./SeenLogs.ts"

/** A checkpoint whose signatures were verified. */
export interface Shown {
  readonly note: SignedNote
  readonly checkpoint: Checkpoint
  /** Keys that signed it. */
  readonly signers: ReadonlyArray<string>
}

/** A log that a witness watches. */
export interface WatchedLog {
  /** Hash of its origin, by which it is asked for. */
  readonly name: string
  seen: SeenLogs.SeenLog
  /** Whether the operator has named its keys, to which the log then adds none. */
  readonly isPinned: boolean
  latest: Checkpoint | undefined
  /** A signed checkpoint that was submitted without a proof that fits. It is compared with the tiles of the log. */
  suspect: Shown | undefined
  readonly turn: Semaphore.Semaphore
}

export interface WitnessAnswer {
  readonly status: number
  readonly body: string
  readonly type?: string
}

/** The checkpoint is not one that the log may sign. */
export class NotTrusted extends Data.TaggedError("NotTrusted")<{ readonly message: string }> {}

export type Witness = Effect.Success<ReturnType<typeof make>>

/** Names under which one instance may have shown logs: of its cells, and after restores. */
export const MAX_LOGS_OF_INSTANCE = 256

/** Address of the instance that a log is of. */
const instanceOf = (url: string): string => url.replace(/\/log(?:\/cells\/[a-z0-9_]+)?$/u, "")

export interface Options {
  /** Addresses that are followed. */
  readonly instances?: ReadonlyArray<string>
  /** Dies if another process has taken the folder: then nothing more may be signed. */
  readonly fence?: Effect.Effect<void>
}

export const make = Effect.fnUntraced(function* (
  folder: string,
  cosigner: Cosigner,
  { fence = Effect.void, instances = [] }: Options = {},
) {
  const logs = new Map<string, WatchedLog>()
  const store = (seen: SeenLogs.SeenLog) => Effect.andThen(fence, SeenLogs.write(folder, seen))
  const remembered = new Map((yield* SeenLogs.readAll(folder)).map((seen) => [seen.origin, seen]))

  /** Refuses the name of a log of another instance: whoever could claim it could add keys to that log. */
  const checkName = Effect.fnUntraced(function* (url: string, origin: string) {
    const instance = instanceOf(url)
    const known = logs.get(origin)?.seen ?? remembered.get(origin)
    const owner = known === undefined ? instance : instanceOf(known.url)
    if (owner !== instance && (logs.has(origin) || instances.includes(owner)))
      return yield* new NotTrusted({ message: `${instance} names the log ${origin}, which is one of ${owner}.` })
    const all = new Map([...remembered, ...[...logs].map(([name, { seen }]) => [name, seen] as const)])
    const own = [...all.values()].filter((seen) => instanceOf(seen.url) === instance)
    if (known === undefined && own.length >= MAX_LOGS_OF_INSTANCE)
      return yield* new NotTrusted({ message: `${instance} has named more than ${MAX_LOGS_OF_INSTANCE} logs.` })
  })

  /** Begins to watch a log, from where it was left. Keys of the first contact are trusted unless the operator names some. */
  const watch = Effect.fnUntraced(function* (
    url: string,
    origin: string,
    keys: ReadonlyArray<string>,
    isPinned = true,
  ) {
    yield* checkName(url, origin)
    const known = logs.get(origin)
    if (known !== undefined) {
      known.seen = { ...known.seen, url }
      return known
    }
    const before = remembered.get(origin)
    const seen = {
      origin,
      url,
      keys: isPinned ? keys : (before?.keys ?? keys),
      checkpoint: before?.checkpoint ?? null,
      fork: before?.fork ?? null,
    }
    const latest = seen.checkpoint === null ? undefined : parseCheckpoint(parseNote(seen.checkpoint).text)
    const name = yield* Effect.promise(() => SeenLogs.nameOf(origin))
    const log: WatchedLog = { name, seen, isPinned, latest, suspect: undefined, turn: yield* Semaphore.make(1) }
    yield* store(seen)
    logs.set(origin, log)
    yield* Effect.logInfo("log is watched", { origin, url, keys: seen.keys, size: latest?.size ?? 0 })
    if (!isPinned)
      yield* Effect.logWarning(
        "keys of the log are those that its instance names; whoever controls the address can add keys unless logs[].keys names them",
        { origin, url },
      )
    if (seen.fork !== null) yield* Fork.logRefusal(seen, folder)
    return log
  })

  /** Stores a checkpoint that extends all that were seen, and returns the signature line. Only call it in the log's turn. */
  const cosign = Effect.fnUntraced(function* (log: WatchedLog, { checkpoint, note, signers }: Shown) {
    const seconds = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    const line = cosigner.cosign(note.text, seconds)
    const own = note.signatures
      .filter(({ id, name }) => signers.some((key) => key.startsWith(`${name}+${id}+`)))
      .map(Fork.lineOf)
    const seen = { ...log.seen, checkpoint: `${note.text}\n${own.join("")}${line}` }
    yield* store(seen)
    log.seen = seen
    log.latest = checkpoint
    return line
  })

  /** Names a log that has shown two histories. From now on nothing of it is signed. */
  const refuse = Effect.fnUntraced(function* (log: WatchedLog, fork: Fork.Fork) {
    const seen = { ...log.seen, fork: yield* Fork.write(folder, log.seen, fork) }
    yield* store(seen)
    log.seen = seen
    yield* Fork.logRefusal(seen, folder)
  })

  return {
    logs: logs as ReadonlyMap<string, WatchedLog>,
    watch,
    cosign,

    /** Answers a request for a cosignature, in the statuses of the protocol. */
    answer: Effect.fnUntraced(function* (body: string) {
      const request = AddCheckpoint.decode(body)
      const origin = request?.note.split("\n", 1)[0]
      if (request === undefined || origin === undefined) return refusal(400, "The request is malformed.")
      const log = logs.get(origin)
      if (log === undefined) return refusal(404, "This witness does not watch that log.")
      const verified = yield* Effect.result(verify(log, request.note))
      if (verified._tag === "Failure") return refusal(403, verified.failure.message)
      return yield* log.turn.withPermits(1)(decide(log, verified.success, request))
    }),

    /** Stores a further key of a log, or leaves out one that it has retired. */
    setKeys: Effect.fnUntraced(function* (log: WatchedLog, keys: ReadonlyArray<string>) {
      const seen = { ...log.seen, keys }
      yield* store(seen)
      log.seen = seen
    }),

    refuse,
  }

  function decide(log: WatchedLog, shown: Shown, { old, proof }: AddCheckpoint.AddCheckpoint) {
    return Effect.gen(function* () {
      const { checkpoint } = shown
      if (log.seen.fork !== null) return refusal(422, "This log has shown two histories. Nothing of it is signed.")
      if (old > checkpoint.size) return refusal(400, "The old size is larger than the checkpoint.")
      const { latest } = log
      const known = latest?.size ?? 0
      if (old !== known) return { status: 409, body: `${known}\n`, type: AddCheckpoint.SIZE_TYPE }
      const empty = yield* Effect.promise(() => sha256(new Uint8Array()))
      if (checkpoint.size === 0 && !areEqual(checkpoint.root, empty))
        return refusal(422, "The root of an empty tree is the hash of nothing.")
      const isExtended = yield* Effect.promise(() =>
        verifyConsistency(known, latest?.root ?? empty, checkpoint.size, checkpoint.root, proof),
      )
      if (isExtended) return { status: 200, body: yield* cosign(log, shown) }
      if (latest !== undefined && log.seen.checkpoint !== null && known === checkpoint.size) {
        // Two roots of one size are a fork, whatever the proof is.
        if (!areEqual(latest.root, checkpoint.root))
          yield* refuse(log, {
            smaller: parseNote(log.seen.checkpoint),
            larger: shown.note,
            root: checkpoint.root,
            proof: [],
          })
      }
      // Anybody can send a proof that is wrong, so it alone does not say that the log has forked. Of several, the one whose
      // size the log has reached first is judged.
      else if (log.suspect === undefined || checkpoint.size < log.suspect.checkpoint.size) log.suspect = shown
      return refusal(422, "The proof does not show that the checkpoint extends the last one.")
    })
  }
})

const refusal = (status: number, message: string): WitnessAnswer => ({ status, body: `${message}\n` })

/** Verifies a checkpoint with the keys of its log. Signatures of other keys do not count, wrong ones refuse it. */
export const verify = (log: WatchedLog, text: string): Effect.Effect<Shown, NotTrusted> =>
  Effect.tryPromise({
    try: () => signedCheckpoint(text, log.seen.origin, log.seen.keys),
    catch: (cause) => new NotTrusted({ message: `The checkpoint is refused: ${(cause as Error).message}.` }),
  })
