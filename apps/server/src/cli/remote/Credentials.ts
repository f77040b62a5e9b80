import { Config, Data, Effect, Option, Redacted, Schema } from "effect"
import { randomBytes } from "node:crypto"
import * as fs from "node:fs/promises"
import { homedir } from "node:os"
import { dirname, join } from "node:path"

/** Address of an instance, and a key for its API. */
export interface Credentials {
  /** Without a slash at the end and without `/v1`. */
  readonly url: string
  readonly key: Redacted.Redacted
}

/** Instance on this machine, for a user who has not logged in to another. */
export const DEFAULT_URL = "http://127.0.0.1:3025"

const FILE_MODE = 0o600
const FOLDER_MODE = 0o700
/** Permissions of others than the owner of a file. */
const OTHERS = 0o077

export class NotLoggedIn extends Data.TaggedError("NotLoggedIn")<{}> {
  override message = "You are not logged in. Run `waybill login`, or set WAYBILL_URL and WAYBILL_KEY."
}

/** Stored credentials cannot be used. */
export class CredentialsRefused extends Data.TaggedError("CredentialsRefused")<{ readonly message: string }> {}

const Stored = Schema.fromJsonString(Schema.Struct({ url: Schema.String, key: Schema.String }))

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

/** Returns what `login` stored, or none. A file that others can read is refused, since its key may be known to them. */
export const stored = Effect.gen(function* () {
  const path = yield* file
  const opened = yield* Effect.tryPromise({
    try: async () => ({ text: await fs.readFile(path, "utf8"), mode: (await fs.stat(path)).mode }),
    catch: (cause) => cause as NodeJS.ErrnoException,
  }).pipe(
    Effect.asSome,
    Effect.catch((error) =>
      error.code === "ENOENT" ? Effect.succeedNone : new CredentialsRefused({ message: `${path}: ${error.message}` }),
    ),
  )
  if (Option.isNone(opened)) return Option.none<Credentials>()
  if ((opened.value.mode & OTHERS) !== 0)
    return yield* new CredentialsRefused({ message: `Other users can read ${path}. Run: chmod 600 ${path}` })
  const { key, url } = yield* Effect.mapError(
    Schema.decodeUnknownEffect(Stored)(opened.value.text),
    () => new CredentialsRefused({ message: `${path} is damaged. Run \`waybill login\` to write it again.` }),
  )
  return Option.some<Credentials>({ url, key: Redacted.make(key) })
})

/**
 * Returns the credentials to use: WAYBILL_URL and WAYBILL_KEY (or WAYBILL_API_KEY) of the environment, or else those that `login` stored. A
 * stored key is sent only to the instance that it was stored with.
 */
export const load = Effect.gen(function* () {
  const url = yield* variable("WAYBILL_URL")
  const otherKey = yield* variable("WAYBILL_API_KEY")
  const key = Option.orElse(yield* variable("WAYBILL_KEY"), () => otherKey)
  if (Option.isSome(url) && Option.isSome(key))
    return { url: yield* parseUrl(url.value), key: Redacted.make(key.value) } satisfies Credentials
  const saved = yield* stored
  if (Option.isSome(key)) {
    const known = Option.match(saved, { onNone: () => DEFAULT_URL, onSome: ({ url }) => url })
    return { url: known, key: Redacted.make(key.value) } satisfies Credentials
  }
  if (Option.isNone(saved)) return yield* new NotLoggedIn()
  if (Option.isSome(url) && (yield* parseUrl(url.value)) !== saved.value.url)
    return yield* new CredentialsRefused({
      message: `WAYBILL_URL is another instance than ${saved.value.url}, to which the stored key belongs. Set WAYBILL_KEY too, or run \`waybill login\`.`,
    })
  return saved.value
})

/** Stores the credentials in a file that only its owner can read, in one step. */
export const save = Effect.fnUntraced(function* ({ key, url }: Credentials) {
  const path = yield* file
  const text = `${JSON.stringify({ url, key: Redacted.value(key) })}\n`
  return yield* Effect.tryPromise({
    try: async () => {
      await fs.mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE })
      const unfinished = `${path}.${randomBytes(8).toString("hex")}`
      await fs.writeFile(unfinished, text, { mode: FILE_MODE, flag: "wx" })
      await fs.rename(unfinished, path)
      return path
    },
    catch: (cause) =>
      new CredentialsRefused({ message: `The credentials cannot be stored: ${(cause as Error).message}` }),
  })
})

/** Removes the stored credentials, and returns whether there were any. */
export const remove = Effect.gen(function* () {
  const path = yield* file
  return yield* Effect.tryPromise({
    try: () => fs.rm(path).then(() => true),
    catch: (cause) => cause as NodeJS.ErrnoException,
  }).pipe(
    Effect.catch((error) =>
      error.code === "ENOENT" ? Effect.succeed(false) : new CredentialsRefused({ message: error.message }),
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
        new CredentialsRefused({
          message: `"${text}" is not the address of an instance, such as https://mail.example.com.`,
        }),
      )
}
