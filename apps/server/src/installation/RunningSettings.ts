import { ConfigProvider, Effect, Option, Schema } from "effect"
import { readFile, rm, writeFile } from "node:fs/promises"
import { hostname } from "node:os"
import { join } from "node:path"
import * as Settings from "../settings/Settings.ts"

/** File in which a running service stores its settings without secrets, for the command line. */
const fileOf = (data: string): string => join(data, "settings.json")
const OWNER_ONLY = 0o600

const Stored = Schema.fromJsonString(
  Schema.Struct({ host: Schema.String, pid: Schema.Int, settings: Schema.Record(Schema.String, Schema.String) }),
)
type Values = Readonly<Record<string, string>>

/** Settings that the environment of this process has; of secrets only that they are set. */
const own = Effect.map(Settings.describe, (rows): Values =>
  Object.fromEntries(rows.flatMap(({ name, value }) => (value === null ? [] : [[name, value]]))),
)

const read = (data: string) =>
  Effect.tryPromise(() => readFile(fileOf(data), "utf8")).pipe(
    Effect.flatMap(Schema.decodeEffect(Stored)),
    Effect.option,
    // Containers may share the folder, and each counts its processes from 1.
    Effect.map(Option.filter(({ host, pid }) => host === hostname() && isRunning(pid))),
  )

/** A process that another user runs is there, too. */
const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}

/** Stores the settings of this process until it ends, with those of its flags. Without a folder to write to, nothing is stored. */
export const store = Effect.fnUntraced(function* (data: string, flags: Values) {
  const text = JSON.stringify({ host: hostname(), pid: process.pid, settings: { ...(yield* own), ...flags } })
  const file = fileOf(data)
  yield* Effect.acquireRelease(
    Effect.ignore(Effect.tryPromise(() => writeFile(file, text, { mode: OWNER_ONLY }))),
    () =>
      // Another process of the folder may have stored its own since.
      Effect.flatMap(read(data), (stored) =>
        Option.exists(stored, ({ pid }) => pid === process.pid)
          ? Effect.ignore(Effect.tryPromise(() => rm(file)))
          : Effect.void,
      ),
  )
})

/** Two names of one folder are no difference. */
const FOLDER = "WAYBILL_DATA"

/** The service that runs on the data folder, with the names of settings that it has otherwise than this shell. */
const find = Effect.gen(function* () {
  const data = yield* Effect.option(Settings.TABLE.data.config)
  const running = Option.isNone(data) ? Option.none() : yield* read(data.value)
  if (Option.isNone(running)) return undefined
  const { pid, settings } = running.value
  const here = yield* own
  const names = [...new Set([...Object.keys(settings), ...Object.keys(here)])]
  return { pid, settings, others: names.filter((name) => name !== FOLDER && settings[name] !== here[name]) }
})

const list = (settings: Values, names: ReadonlyArray<string>): string =>
  names.map((name) => (settings[name] === undefined ? `${name} unset` : `${name}=${settings[name]}`)).join(", ")

/** Says in a line in which of these settings, or of all, the service that runs on the data folder differs from this shell. */
export const differences = Effect.fnUntraced(function* (isShown: (name: string) => boolean = () => true) {
  const found = yield* find
  const others = found?.others.filter(isShown) ?? []
  if (found === undefined || others.length === 0) return []
  const { pid, settings } = found
  return [
    `Settings are read from this shell. The service that runs (process ${pid}) has others: ${list(settings, others)}.`,
  ]
})

/**
 * The settings of the service that runs on the data folder, or of this shell if none does, and lines about how they differ.
 * A secret that both have is that of this shell.
 */
export const ofService = Effect.gen(function* () {
  const shell = yield* ConfigProvider.ConfigProvider
  const found = yield* find
  if (found === undefined || found.others.length === 0) return { provider: shell, lines: [] }
  const { others, pid, settings } = found
  const provider = ConfigProvider.make((path) => {
    const name = String(path[0])
    if (!others.includes(name)) return shell.load(path)
    const value = settings[name]
    return Effect.succeed(
      value === undefined || value === Settings.SECRET ? undefined : ConfigProvider.makeValue(value),
    )
  })
  const secrets = others.filter((name) => settings[name] === Settings.SECRET)
  const lines = [
    `Checked as the service that runs (process ${pid}), whose settings differ from this shell: ${list(settings, others)}.`,
    ...(secrets.length === 0
      ? []
      : [`Secrets of a service are not stored. Set ${secrets.join(" and ")} here, too, to check all.`]),
  ]
  return { provider, lines }
})
