import { Context, Data, Effect, Layer, Option, Redacted, Result, Runtime } from "effect"
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto"
import * as fs from "node:fs/promises"
import * as path from "node:path"

export const KEY_BYTES = 32
/** Length of a GCM nonce. Random nonces are safe for 2^32 uses of a key, far more than an instance needs. */
export const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Maximum number of keys. A rotation needs the current, the former and the next one; more are taken as a mistake. */
export const MAX_KEYS = 8
const CIPHER = "aes-256-gcm"

/** The instance key cannot be used; exits with EX_CONFIG of sysexits.h. */
export class BadInstanceKey extends Data.TaggedError("BadInstanceKey")<{ readonly message: string }> {
  override readonly [Runtime.errorExitCode] = 78
}

interface Key {
  /** Digest of the key, by which rows name the key that opens them without revealing it. */
  readonly id: string
  readonly bytes: Uint8Array
}

export interface Sealed {
  readonly key_id: string
  readonly nonce: Uint8Array
  /** Ciphertext followed by the authentication tag. */
  readonly ciphertext: Uint8Array
}

export interface Keyring {
  /** Id of the key that seals. */
  readonly current: string
  readonly ids: ReadonlyArray<string>
  /** Seals bytes. `context` names their purpose and owner; `open` requires the same context. */
  readonly seal: (context: ReadonlyArray<string>, bytes: Uint8Array) => Sealed
  /** Derives a key for a purpose from each instance key, that of the current one first. */
  readonly derive: (purpose: string) => ReadonlyArray<Uint8Array>
  /** Throws if the key is missing, the context differs or the bytes were changed. */
  readonly open: (context: ReadonlyArray<string>, sealed: Sealed) => Uint8Array
}

/** Keys that seal all secrets of this instance. Without them the DKIM keys of all domains are lost. */
export class InstanceKey extends Context.Service<InstanceKey, Keyring>()("@waybill/store/secrets/InstanceKey") {
  /**
   * Reads the keys from the environment if they are set there, else from the file, which is created at the first start.
   */
  static readonly layer = (options: { readonly file: string; readonly text: Option.Option<Redacted.Redacted> }) =>
    Layer.effect(
      InstanceKey,
      options.text._tag === "Some"
        ? Effect.fromResult(parse(Redacted.value(options.text.value)))
        : fromFile(options.file),
    )
}

/** Reads the keys without creating a file, for tools that only examine. */
export const find = (options: {
  readonly file: string
  readonly text: Option.Option<Redacted.Redacted>
}): Effect.Effect<Option.Option<Keyring>, BadInstanceKey> =>
  Effect.gen(function* () {
    const text = Option.isSome(options.text)
      ? Redacted.value(options.text.value)
      : yield* Effect.tryPromise({
          try: () => read(options.file),
          catch: (cause) =>
            new BadInstanceKey({ message: `the file ${options.file} cannot be read: ${String(cause)}` }),
        })
    return text === undefined ? Option.none() : Option.some(yield* Effect.fromResult(parse(text)))
  })

/** Parses keys in base64, separated by lines or commas. The first one seals, all of them open; `#` begins a comment. */
export const parse = (text: string): Result.Result<Keyring, BadInstanceKey> => {
  const entries = text
    .split(/[\n,]/u)
    .map((line) => line.replace(/#.*/u, "").trim())
    .filter((line) => line !== "")
  const keys: Array<Key> = []
  for (const [nth, entry] of entries.entries()) {
    const bytes = Buffer.from(entry, "base64")
    if (bytes.length !== KEY_BYTES || bytes.toString("base64") !== entry) {
      return Result.fail(
        new BadInstanceKey({
          message: `key ${nth + 1} is not ${KEY_BYTES} bytes in base64, as made by openssl rand -base64 32`,
        }),
      )
    }
    keys.push({ id: idOf(bytes), bytes })
  }
  const [first] = keys
  if (first === undefined) return Result.fail(new BadInstanceKey({ message: "it contains no key" }))
  if (keys.length > MAX_KEYS) return Result.fail(new BadInstanceKey({ message: `more than ${MAX_KEYS} keys` }))
  return Result.succeed(keyringOf(first, keys))
}

export const generate = (): string => randomBytes(KEY_BYTES).toString("base64")

const idOf = (bytes: Uint8Array): string =>
  createHash("sha256").update("waybill instance key").update(bytes).digest("hex").slice(0, 16)

const keyringOf = (current: Key, keys: ReadonlyArray<Key>): Keyring => ({
  current: current.id,
  ids: keys.map((key) => key.id),
  seal: (context, bytes) => {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(CIPHER, current.bytes, nonce).setAAD(encodeContext(context))
    return {
      key_id: current.id,
      nonce,
      ciphertext: Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]),
    }
  },
  derive: (purpose) =>
    keys.map(({ bytes }) => new Uint8Array(hkdfSync("sha256", bytes, "", `waybill ${purpose}`, KEY_BYTES))),
  open: (context, { ciphertext, key_id, nonce }) => {
    const key = keys.find((each) => each.id === key_id)
    if (key === undefined)
      throw new BadInstanceKey({ message: `sealed under the instance key ${key_id}, which this node does not have` })
    const end = ciphertext.length - TAG_BYTES
    const decipher = createDecipheriv(CIPHER, key.bytes, nonce, { authTagLength: TAG_BYTES })
      .setAAD(encodeContext(context))
      .setAuthTag(ciphertext.subarray(end))
    return Buffer.concat([decipher.update(ciphertext.subarray(0, end)), decipher.final()])
  },
})

/** Encodes the context as JSON, so that different contexts never yield the same bytes. */
const encodeContext = (context: ReadonlyArray<string>): Uint8Array => Buffer.from(JSON.stringify(context))

/**
 * Creates the file completely under another name and then links it, so that two processes that start at once use the
 * same key.
 */
const fromFile = (file: string) =>
  Effect.tryPromise({
    try: async () => {
      await fs.mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
      const existing = await read(file)
      if (existing !== undefined) return existing
      const draft = `${file}.${randomBytes(6).toString("hex")}`
      try {
        await fs.writeFile(draft, `${generate()}\n`, { mode: 0o600, flag: "wx", flush: true })
        await fs.link(draft, file).catch((cause) => {
          if (!hasCode(cause, "EEXIST")) throw cause
        })
      } finally {
        await fs.rm(draft, { force: true })
      }
      return fs.readFile(file, "utf8")
    },
    catch: (cause) => new BadInstanceKey({ message: `the file ${file} cannot be used: ${String(cause)}` }),
  }).pipe(
    Effect.flatMap((text) => Effect.fromResult(parse(text))),
    Effect.mapError(({ message }) => new BadInstanceKey({ message: `the instance key in ${file}: ${message}` })),
    Effect.tap(() => warnIfReadable(file)),
  )

const read = (file: string): Promise<string | undefined> =>
  fs.readFile(file, "utf8").catch((cause) => {
    if (hasCode(cause, "ENOENT")) return undefined
    throw cause
  })

/** Warns but does not refuse, because secrets that a container mounts are readable for all its processes. */
const warnIfReadable = (file: string) =>
  Effect.promise(() => fs.stat(file)).pipe(
    Effect.flatMap(({ mode }) =>
      (mode & 0o077) === 0 ? Effect.void : Effect.logWarning(`instance key file ${file} is readable by other users`),
    ),
  )

const hasCode = (cause: unknown, code: string): boolean =>
  cause instanceof Error && "code" in cause && cause.code === code
