import type * as Network from "@waybill/mail/dns/Network"
import { areEqual } from "@waybill/verify/Bytes"
import { parseNote } from "@waybill/verify/SignedNote"
import { signing } from "@waybill/verify/signing"
import { Effect } from "effect"
import * as LogReader from "./LogReader.ts"
import * as Witness from "./Witness.ts"

/**
 * Reads the newest checkpoints of an instance's logs, and signs those that extend all that were seen. Names a log that has
 * forked. Without keys of the operator, those of the first contact are trusted.
 */
export const follow = Effect.fnUntraced(function* (
  witness: Witness.Witness,
  { keys, url }: { readonly url: string; readonly keys?: ReadonlyArray<string> },
  allowed: Network.Networks,
) {
  for (const log of yield* LogReader.describe(url, allowed)) {
    const pinned = keys?.filter((key) => key.startsWith(`${log.origin}+`))
    if (pinned?.length === 0)
      yield* Effect.logWarning("log is not followed, because none of the keys in the configuration has its name", {
        origin: log.origin,
        url: log.url,
      })
    else yield* followLog(witness, log, pinned, allowed)
  }
})

const followLog = Effect.fnUntraced(function* (
  witness: Witness.Witness,
  described: LogReader.LogDescription,
  pinned: ReadonlyArray<string> | undefined,
  allowed: Network.Networks,
) {
  const log = yield* witness.watch(described.url, described.origin, pinned ?? described.keys, pinned !== undefined)
  const shown = yield* Witness.verify(log, yield* LogReader.checkpoint(described, allowed))
  yield* judge(witness, log, shown, allowed)
  // Behind the head that the log shows, so that its tiles tell what it has at the size of the other one.
  const { suspect } = log
  if (suspect !== undefined) yield* judge(witness, log, suspect, allowed)
  log.suspect = undefined
  if (!log.isPinned) yield* log.turn.withPermits(1)(changeKeys(witness, log, shown, described.keys))
})

/**
 * Compares a checkpoint with the largest one that was seen. The tiles are read outside the log's turn, so that requests for
 * cosignatures do not wait for them; if one was signed meanwhile, the comparison is left to the next time.
 */
const judge = Effect.fnUntraced(function* (
  witness: Witness.Witness,
  log: Witness.WatchedLog,
  shown: Witness.Shown,
  allowed: Network.Networks,
) {
  const { latest, seen } = log
  const sign = Effect.suspend(() => (log.latest === latest ? Effect.asVoid(witness.cosign(log, shown)) : Effect.void))
  if (latest === undefined || seen.checkpoint === null) return yield* log.turn.withPermits(1)(sign)
  const known = { note: parseNote(seen.checkpoint), checkpoint: latest }
  const [smaller, larger] = shown.checkpoint.size < latest.size ? [shown, known] : [known, shown]
  const { proof, root } = yield* LogReader.compare(log.seen.url, smaller.checkpoint, larger.checkpoint, allowed)
  const isFork = smaller.checkpoint.size > 0 && !areEqual(root, smaller.checkpoint.root)
  if (!isFork && shown.checkpoint.size <= latest.size) return
  const fork = { smaller: smaller.note, larger: larger.note, root, proof }
  yield* log.turn.withPermits(1)(
    Effect.suspend(() => (log.seen.fork !== null ? Effect.void : isFork ? witness.refuse(log, fork) : sign)),
  )
})

/** Trusts a new key once it has signed together with one that is trusted, and no longer one that the log has retired. */
const changeKeys = Effect.fnUntraced(function* (
  witness: Witness.Witness,
  log: Witness.WatchedLog,
  { note }: Witness.Shown,
  current: ReadonlyArray<string>,
) {
  const signers = yield* Effect.orElseSucceed(
    Effect.tryPromise(() => signing(note, current)),
    () => [],
  )
  const added = signers.filter((key) => !log.seen.keys.includes(key))
  // A log that names no key any more keeps those that are known.
  const kept = signers.length === 0 ? log.seen.keys : log.seen.keys.filter((key) => current.includes(key))
  const keys = kept.length === 0 ? log.seen.keys : [...kept, ...added]
  if (keys.length === log.seen.keys.length && added.length === 0) return
  yield* witness.setKeys(log, keys)
  yield* Effect.logInfo("keys of the log have changed, as one of the former keys has signed", {
    origin: log.seen.origin,
    keys,
  })
})
