import { Effect, Schema } from "effect"
import { createRequire } from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { createTransport, type Transport, type Transporter } from "nodemailer"
import * as Secrets from "./Secrets.ts"

export class ModuleUnusable extends Schema.TaggedError<ModuleUnusable>()("ModuleUnusable", {
  module: Schema.String,
  reason: Schema.String,
}) {
  override get message() {
    return `NODEMAILER_TRANSPORT ${this.module} ${this.reason}`
  }
}

export type Options = Readonly<Record<string, unknown>>

const SES_CLIENT = "@aws-sdk/client-sesv2"

/**
 * Loads a transport of nodemailer: a built-in one, a package that is installed beside the service or in the folder it
 * was started in, or a file.
 */
export const load = (module: string, options: Options): Effect.Effect<Transporter, ModuleUnusable> => {
  const unusable = (cause: unknown) =>
    new ModuleUnusable({
      module,
      reason: cause instanceof Unusable ? cause.message : `fails: ${Secrets.maskOf(options)(firstLine(cause))}`,
    })
  return Effect.tryPromise({ try: () => (module === "ses" ? ses(options) : made(module, options)), catch: unusable })
}

class Unusable extends Error {}

const firstLine = (cause: unknown): string =>
  String(cause instanceof Error ? cause.message : cause).split("\n")[0] ?? ""

/** Amazon's client makes one attempt, because the service repeats a delivery by itself. */
const ses = async (options: Options): Promise<Transporter> => {
  const { SESv2Client, SendEmailCommand } = await imported(SES_CLIENT)
  if (typeof SESv2Client !== "function") throw new Unusable(`needs ${SES_CLIENT} with a SESv2Client`)
  return createTransport({
    SES: { sesClient: Reflect.construct(SESv2Client, [{ maxAttempts: 1, ...options }]), SendEmailCommand } as never,
  })
}

const made = async (module: string, options: Options): Promise<Transporter> => {
  if (module === "sendmail") return createTransport({ newline: "unix", ...options, sendmail: true })
  const exported = await imported(module)
  const make = exported["default"] ?? Object.values(exported).find((value) => typeof value === "function")
  const transport: unknown =
    typeof make !== "function" ? make : isClass(make) ? Reflect.construct(make, [options]) : await make(options)
  if (!isTransport(transport)) throw new Unusable("exports no transport of nodemailer, which has a method send")
  return createTransport(guarded(transport))
}

/** Answer or error of a transport. Nodemailer reads fields of errors and answers, and those of a foreign object may throw. */
class Given extends Error {
  readonly value: unknown
  constructor(value: unknown) {
    super("the transport failed")
    this.value = value
  }
}

/** Returns the answer or error of a transport as the transport made it. */
export const given = (value: unknown): unknown => (value instanceof Given ? value.value : value)

/**
 * Makes a transport answer once, and with an error if it throws or rejects: nodemailer leaves both to the process, which they
 * would end.
 */
const guarded = (transport: Transport): Transport => {
  const send: (...args: Parameters<Transport["send"]>) => unknown = transport.send.bind(transport)
  transport.send = (mail, callback) => {
    let isAnswered = false
    const settle = (...args: Parameters<typeof callback>) => {
      if (isAnswered) return
      isAnswered = true
      callback(...args)
    }
    const fail = (cause: unknown) => settle(new Given(cause), undefined as never)
    const answer: typeof callback = (error, info) => (error ? fail(error) : settle(null, new Given(info) as never))
    try {
      Promise.resolve(send(mail, answer)).catch(fail)
    } catch (cause) {
      fail(cause)
    }
  }
  return transport
}

const isClass = (value: object): boolean =>
  typeof (value as { readonly prototype?: { readonly send?: unknown } }).prototype?.send === "function"

const isTransport = (value: unknown): value is Transport =>
  typeof value === "object" && value !== null && typeof (value as { readonly send?: unknown }).send === "function"

/** Imports a package or file, as the service sees it or as the folder sees it that the service was started in. */
const imported = async (module: string): Promise<Readonly<Record<string, unknown>>> => {
  const specifier = /^(?:\.{0,2}\/|file:)/u.test(module) ? pathOf(module) : module
  try {
    return (await import(specifier)) as Readonly<Record<string, unknown>>
  } catch (cause) {
    if (!isMissing(cause)) throw cause
  }
  try {
    const path = createRequire(join(process.cwd(), "package.json")).resolve(specifier)
    return (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>
  } catch (cause) {
    throw isMissing(cause) ? new Unusable(`is not installed: run \`npm install ${module}\``) : cause
  }
}

const pathOf = (module: string): string =>
  module.startsWith("file:") ? module : pathToFileURL(join(module.startsWith("/") ? "/" : process.cwd(), module)).href

const isMissing = (cause: unknown): boolean =>
  ["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"].includes(String((cause as { readonly code?: unknown } | null)?.code))
