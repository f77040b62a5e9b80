import * as Table from "@waybill/domain/values/Table"
import { Config, Effect, Option, Redacted, Schema } from "effect"
import { GlobalFlag } from "effect/cli"
import { randomBytes } from "node:crypto"
import * as fs from "node:fs/promises"
import { homedir } from "node:os"
import { dirname, join } from "node:path"
import { CommandRefused } from "../../process/CommandRefused.ts"
import * as Options from "../Options.ts"

/** Address of an instance, and a key for its API. */
export interface Login {
  /** Without a slash at the end and without `/v1`. */
  readonly url: string
  readonly key: Redacted.Redacted
}

export interface Credentials extends Login {
  /** Name of the profile that they are stored in; `null` if the environment has them. */
  readonly profile: string | null
}

/** Instance on this machine, for a user who has not logged in to another. */
export const DEFAULT_URL = "http://127.0.0.1:3025"

const FILE_MODE = 0o600
const FOLDER_MODE = 0o700
/** Permissions of others than the owner of a file. */
const OTHERS = 0o077

const NOT_LOGGED_IN = "You are not logged in. Run `waybill login`, or set WAYBILL_URL and WAYBILL_KEY."

const Stored = Schema.Struct({ url: Schema.String, key: Schema.String })
/** Instances and keys by the names of their profiles. */
const Profiles = Schema.Struct({ current: Schema.String, profiles: Schema.Record(Schema.String, Stored) })
/** A file of before there were profiles holds one. */
const File = Schema.fromJsonString(Schema.Union([Profiles, Stored]))
export type Profiles = typeof Profiles.Type

const DEFAULT_PROFILE = "default"
const NO_PROFILES: Profiles = { current: DEFAULT_PROFILE, profiles: {} }
const NAME = /^[\w.-]{1,64}$/u

export const ProfileFlag = GlobalFlag.Setting("profile")({
  flag: Options.text("profile", "Use the instance and the key of this profile, which `login --profile` has stored"),
})

/** A variable of the environment; an empty one counts as absent. */
const variable = (name: string) =>
  // A text that is there is valid.
  Config.option(Config.String(name)).pipe(Effect.orDie, Effect.map(Option.filter((text) => text.trim() !== "")))

/** Path of the file with the credentials. */
export const file = Effect.map(variable("XDG_CONFIG_HOME"), (folder) =>
  join(
    Option.getOrElse(folder, () => join(homedir(), ".config")),
    "waybill",
    "credentials.json",
  ),
)

/** Returns all profiles. A file that others can read is refused, since its keys may be known to them. */
export const stored = Effect.gen(function* () {
  const path = yield* file
  const opened = yield* Effect.tryPromise({
    try: async () => ({ text: await fs.readFile(path, "utf8"), mode: (await fs.stat(path)).mode }),
    catch: (cause) => cause as NodeJS.ErrnoException,
  }).pipe(
    Effect.asSome,
    Effect.catch((error) =>
      error.code === "ENOENT" ? Effect.succeedNone : new CommandRefused({ message: `${path}: ${error.message}` }),
    ),
  )
  if (Option.isNone(opened)) return NO_PROFILES
  if ((opened.value.mode & OTHERS) !== 0)
    return yield* new CommandRefused({ message: `Other users can read ${path}. Run: chmod 600 ${path}` })
  const read = yield* Effect.mapError(
    Schema.decodeUnknownEffect(File)(opened.value.text),
    () => new CommandRefused({ message: `${path} is damaged. Run \`waybill login\` to write it again.` }),
  )
  return "profiles" in read ? read : { current: DEFAULT_PROFILE, profiles: { [DEFAULT_PROFILE]: read } }
})

const profileFlag = Effect.map(Effect.serviceOption(ProfileFlag), Option.flatten)

/** Name of the profile of `--profile`, or else of WAYBILL_PROFILE. */
const chosen = Effect.gen(function* () {
  const fromEnvironment = yield* variable("WAYBILL_PROFILE")
  return Option.orElse(yield* profileFlag, () => fromEnvironment)
})

const profileNamed = Effect.fnUntraced(function* (profiles: Profiles["profiles"], name: string) {
  const found = Table.at(profiles, name)
  if (found !== undefined) return found
  const names = Object.keys(profiles)
  return yield* new CommandRefused({
    message: `There is no profile "${name}". ${names.length === 0 ? `Run \`waybill login --profile ${name}\`.` : `Profiles are ${names.join(", ")}.`}`,
  })
})

/** Returns the credentials of the profile that was chosen, which must exist, or of the one that commands use. */
const ofProfile = Effect.gen(function* () {
  const { current, profiles } = yield* stored
  const name = yield* chosen
  const found = Option.isSome(name) ? yield* profileNamed(profiles, name.value) : Table.at(profiles, current)
  const profile = Option.getOrElse(name, () => current)
  return Option.map(Option.fromUndefinedOr(found), ({ key, url }): Credentials => ({
    url,
    key: Redacted.make(key),
    profile,
  }))
})

/**
 * Returns the credentials to use: those of `--profile`, or WAYBILL_URL and WAYBILL_KEY (or WAYBILL_API_KEY) of the environment, or else
 * those of the profile. A stored key is sent only to the instance that it was stored with.
 */
export const load = Effect.gen(function* () {
  const isFlag = Option.isSome(yield* profileFlag)
  const url = isFlag ? Option.none() : yield* variable("WAYBILL_URL")
  const otherKey = yield* variable("WAYBILL_API_KEY")
  const key = isFlag ? Option.none() : Option.orElse(yield* variable("WAYBILL_KEY"), () => otherKey)
  if (Option.isSome(url) && Option.isSome(key))
    return { url: yield* parseUrl(url.value), key: Redacted.make(key.value), profile: null } satisfies Credentials
  const saved = yield* ofProfile
  if (Option.isSome(key)) {
    const known = Option.match(saved, { onNone: () => DEFAULT_URL, onSome: ({ url }) => url })
    return { url: known, key: Redacted.make(key.value), profile: null } satisfies Credentials
  }
  if (Option.isNone(saved)) return yield* new CommandRefused({ message: NOT_LOGGED_IN })
  if (Option.isSome(url) && (yield* parseUrl(url.value)) !== saved.value.url)
    return yield* new CommandRefused({
      message: `WAYBILL_URL is another instance than ${saved.value.url}, to which the stored key belongs. Set WAYBILL_KEY too, or run \`waybill login\`.`,
    })
  return saved.value
})

/** Stores the credentials of the profile, which commands use from now on. */
export const save = Effect.fnUntraced(function* ({ key, url }: Login) {
  const { profiles } = yield* stored
  const name = Option.getOrElse(yield* chosen, () => DEFAULT_PROFILE)
  if (!NAME.test(name))
    return yield* new CommandRefused({
      message: `"${name}" is no name of a profile: up to 64 letters, digits, dots, dashes and underscores.`,
    })
  return yield* write({ current: name, profiles: { ...profiles, [name]: { url, key: Redacted.value(key) } } })
})

/** Makes commands use a profile from now on. */
export const use = Effect.fnUntraced(function* (name: string) {
  const { profiles } = yield* stored
  yield* profileNamed(profiles, name)
  return yield* write({ current: name, profiles })
})

/** Writes the file, which only its owner can read, in one step. */
const write = Effect.fnUntraced(function* (profiles: Profiles) {
  const path = yield* file
  return yield* Effect.tryPromise({
    try: async () => {
      await fs.mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE })
      const unfinished = `${path}.${randomBytes(8).toString("hex")}`
      await fs.writeFile(unfinished, `${JSON.stringify(profiles)}\n`, { mode: FILE_MODE, flag: "wx" })
      await fs.rename(unfinished, path)
      return path
    },
    catch: (cause) => new CommandRefused({ message: `The credentials cannot be stored: ${(cause as Error).message}` }),
  })
})

/** Removes the profile, and returns whether there was one. A damaged file is removed as a whole. */
export const remove = Effect.gen(function* () {
  const path = yield* file
  const { current, profiles } = yield* Effect.catch(stored, () => Effect.succeed(NO_PROFILES))
  const name = Option.getOrElse(yield* chosen, () => current)
  const others = Object.entries(profiles).filter(([each]) => each !== name)
  const [first] = others
  if (first !== undefined) {
    yield* write({ current: current === name ? first[0] : current, profiles: Object.fromEntries(others) })
    return Object.hasOwn(profiles, name)
  }
  return yield* Effect.tryPromise({
    try: () => fs.rm(path).then(() => true),
    catch: (cause) => cause as NodeJS.ErrnoException,
  }).pipe(
    Effect.catch((error) =>
      error.code === "ENOENT" ? Effect.succeed(false) : new CommandRefused({ message: error.message }),
    ),
  )
})

/** Whether a key would cross the network unencrypted. */
export const isExposed = (url: string): boolean => {
  const { hostname, protocol } = new URL(url)
  return protocol === "http:" && !/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/u.test(hostname)
}

/** Normalises the address of an instance, as the client library does. */
export const parseUrl = (text: string) => {
  const url = URL.parse(text.trim())
  return url !== null && /^https?:$/u.test(url.protocol) && url.username === "" && url.search === "" && url.hash === ""
    ? Effect.succeed(`${url.origin}${url.pathname.replace(/\/+$/u, "").replace(/\/v1$/u, "")}`)
    : Effect.fail(
        new CommandRefused({
          message: `"${text}" is not the address of an instance, such as https://mail.example.com.`,
        }),
      )
}
