import * as Network from "@waybill/mail/dns/Network"
import { parseVkey } from "@waybill/verify/SignedNote"
import { Data, Duration, Effect, Layer, Result, Runtime, Schedule } from "effect"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import * as ExitCodes from "../process/ExitCodes.ts"
import * as Cosigner from "./Cosigner.ts"
import { follow } from "./follow.ts"
import * as Witness from "./Witness.ts"
import * as WitnessConfig from "./WitnessConfig.ts"
import * as WitnessServer from "./WitnessServer.ts"

/** Logs that the witness follows at once. */
const CONCURRENT_LOGS = 8

/** A log has shown two histories. */
class Forked extends Data.TaggedError("Forked")<{ readonly message: string }> {
  override readonly [Runtime.errorExitCode] = ExitCodes.EXIT_DIFFERENCE
}

const refused = (cause: unknown) => new WitnessConfig.WitnessRefused({ message: (cause as Error).message })

/** Follows the logs of a configuration and answers requests until it is stopped; once, if `once` is set. */
export const runWitness = Effect.fnUntraced(function* (file: string, once: boolean) {
  const config = yield* WitnessConfig.read(file)
  yield* lock(config.folder)
  const cosigner = yield* Effect.tryPromise({
    try: () => Cosigner.fromFile(config.name, join(config.folder, "witness.key")),
    catch: refused,
  })
  const witness = yield* Witness.make(config.folder, cosigner)
  for (const { keys = [], url } of config.logs)
    for (const key of keys) {
      const { name } = yield* Effect.tryPromise({ try: () => parseVkey(key), catch: refused })
      const named = keys.filter((each) => each.startsWith(`${name}+`))
      yield* witness.watch(`${url}/log`, name, named)
    }
  const allowed = Result.getOrElse(Network.parseAll(config.allow_networks), () => [])
  const followAll = Effect.forEach(
    config.logs,
    (log) =>
      Effect.catch(follow(witness, log, allowed), ({ message }) =>
        Effect.logWarning("log could not be followed; it will be retried", { url: log.url, reason: message }),
      ),
    { concurrency: CONCURRENT_LOGS, discard: true },
  )
  if (once) {
    yield* followAll
    const forked = [...witness.logs.values()].filter(({ seen }) => seen.fork !== null).map(({ seen }) => seen.origin)
    if (forked.length > 0) return yield* new Forked({ message: `shown two histories by: ${forked.join(", ")}` })
    return
  }
  const following = Effect.repeat(followAll, Schedule.spaced(Duration.seconds(config.follow_seconds)))
  const started = Effect.logInfo("witness started", { key: cosigner.text, logs: config.logs.length })
  return yield* Layer.launch(
    Layer.effectDiscard(Effect.andThen(started, Effect.forkScoped(following))).pipe(
      Layer.provideMerge(WitnessServer.layer(witness, config.listen)),
    ),
  )
}, Effect.scoped)

/** Keeps a second process from the same folder, in which it could sign another history. */
const lock = Effect.fnUntraced(function* (folder: string) {
  const file = join(folder, "lock")
  const take = async () => {
    await fs.mkdir(folder, { recursive: true, mode: 0o700 })
    const holder = Number(await fs.readFile(file, "utf8").catch(() => ""))
    if (holder > 0 && holder !== process.pid && isAlive(holder))
      throw new Error(`${folder} is used by the process ${holder}. If that is no witness, delete ${file}.`)
    await fs.rm(file, { force: true })
    await fs.writeFile(file, String(process.pid), { flag: "wx" })
  }
  yield* Effect.acquireRelease(Effect.tryPromise({ try: take, catch: refused }), () =>
    Effect.promise(() => fs.rm(file, { force: true })),
  )
})

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === "EPERM"
  }
}
