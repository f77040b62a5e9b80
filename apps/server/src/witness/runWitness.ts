import * as Network from "@waybill/mail/dns/Network"
import { parseVkey } from "@waybill/verify/SignedNote"
import { Data, Duration, Effect, Layer, Result, Runtime, Schedule } from "effect"
import { randomBytes } from "node:crypto"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import * as ExitCodes from "../process/ExitCodes.ts"
import * as Cosigner from "./Cosigner.ts"
import { follow } from "./follow.ts"
import * as Witness from "./Witness.ts"
import * as WitnessConfig from "./WitnessConfig.ts"
import * as WitnessServer from "./WitnessServer.ts"

/** Logs that are followed at once, if each is followed once. */
const CONCURRENT_LOGS = 8

/** A log has shown two histories. */
class Forked extends Data.TaggedError("Forked")<{ readonly message: string }> {
  override readonly [Runtime.errorExitCode] = ExitCodes.EXIT_DIFFERENCE
}

const refused = (cause: unknown) => new WitnessConfig.WitnessRefused({ message: (cause as Error).message })

/** Follows the logs of a configuration and answers requests until it is stopped; once, if `once` is set. */
export const runWitness = Effect.fnUntraced(function* (file: string, once: boolean) {
  const config = yield* WitnessConfig.read(file)
  const fence = yield* lock(config.folder)
  const cosigner = yield* Effect.tryPromise({
    try: () => Cosigner.fromFile(config.name, join(config.folder, "witness.key")),
    catch: refused,
  })
  const witness = yield* Witness.make(config.folder, cosigner, { instances: config.logs.map(({ url }) => url), fence })
  for (const { keys = [], url } of config.logs)
    for (const key of keys) {
      const { name } = yield* Effect.tryPromise({ try: () => parseVkey(key), catch: refused })
      const named = keys.filter((each) => each.startsWith(`${name}+`))
      yield* Effect.mapError(witness.watch(`${url}/log`, name, named), refused)
    }
  const allowed = Result.getOrElse(Network.parseAll(config.allow_networks), () => [])
  const followOne = (log: WitnessConfig.WitnessConfig["logs"][number]) =>
    Effect.catch(follow(witness, log, allowed), ({ message }) =>
      Effect.logWarning("log could not be followed; it will be retried", { url: log.url, reason: message }),
    )
  if (once) {
    yield* Effect.forEach(config.logs, followOne, { concurrency: CONCURRENT_LOGS, discard: true })
    const forked = [...witness.logs.values()].filter(({ seen }) => seen.fork !== null).map(({ seen }) => seen.origin)
    if (forked.length > 0) return yield* new Forked({ message: `shown two histories by: ${forked.join(", ")}` })
    return
  }
  const schedule = Schedule.spaced(Duration.seconds(config.follow_seconds))
  // Each by itself, so that an instance that answers slowly holds up no other one.
  const following = Effect.forEach(config.logs, (log) => Effect.repeat(followOne(log), schedule), {
    concurrency: "unbounded",
    discard: true,
  })
  const started = Effect.logInfo("witness started", { key: cosigner.text, logs: config.logs.length })
  return yield* Layer.launch(
    Layer.effectDiscard(Effect.andThen(started, Effect.forkScoped(following))).pipe(
      Layer.provideMerge(WitnessServer.layer(witness, config.listen)),
    ),
  )
}, Effect.scoped)

/**
 * Keeps a second process from the same folder, in which it could sign another history. Returns a check that fails once another
 * one has taken the folder: one that started at the same moment, or in a container, from which this process cannot be seen.
 */
const lock = Effect.fnUntraced(function* (folder: string) {
  const file = join(folder, "lock")
  const own = `${process.pid} ${randomBytes(TOKEN_BYTES).toString("hex")}`
  const read = () => fs.readFile(file, "utf8").catch(() => "")
  const take = async () => {
    await fs.mkdir(folder, { recursive: true, mode: 0o700 })
    const holder = Number((await read()).split(" ", 1)[0])
    if (holder > 0 && holder !== process.pid && isAlive(holder))
      throw new Error(`${folder} is used by the process ${holder}. If that is no witness, delete ${file}.`)
    await fs.writeFile(file, own)
  }
  const release = async () => {
    if ((await read()) === own) await fs.rm(file, { force: true })
  }
  yield* Effect.acquireRelease(Effect.tryPromise({ try: take, catch: refused }), () => Effect.promise(release))
  return Effect.promise(async () => {
    if ((await read()) !== own) throw new Error(`another witness has taken ${folder}; this one signs nothing any more`)
  })
})

const TOKEN_BYTES = 8

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === "EPERM"
  }
}
