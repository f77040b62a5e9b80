import * as Id from "@waybill/domain/values/Id"
import * as ProviderEvents from "@waybill/store/providers/ProviderEvents"
import * as ProviderHooks from "@waybill/store/providers/ProviderHooks"
import { Secrets } from "@waybill/store/secrets/Secrets"
import { Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import { randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"
import { CommandRefused } from "../process/CommandRefused.ts"
import * as Settings from "../settings/Settings.ts"
import * as Authenticity from "../providers/Authenticity.ts"
import * as HookAddress from "../providers/HookAddress.ts"
import { PROVIDERS, type Provider } from "../providers/formats/ProviderEvent.ts"
import * as CliStore from "./CliStore.ts"
import * as Options from "./Options.ts"
import * as DataCommand from "./DataCommand.ts"
import * as Output from "./Output.ts"

const ID_BYTES = 10
const PASSWORD_BYTES = 18
const STANDARD_INPUT = 0
/** Unmatched events that are shown. */
export const MAX_SHOWN = 100

/** The secret of each provider that has one of its own. */
const SECRETS: { readonly [P in Provider]: string | undefined } = {
  ses: "the ARN of the topic",
  postmark: undefined,
  mailgun: "the HTTP webhook signing key",
  sendgrid: "the verification key of the signed event webhook",
  sparkpost: undefined,
  resend: "the signing secret (whsec_…)",
}

const add = DataCommand.record(
  {
    provider: Argument.Literals("provider", PROVIDERS).pipe(Argument.withDescription(PROVIDERS.join(", "))),
    name: Options.text("name", "Name of the hook"),
    secretFile: Options.text("secret-file", "File with the secret that the provider shows; - is standard input"),
  },
  function* ({ name, provider, secretFile }) {
    const given = Option.isNone(secretFile) ? undefined : yield* read(secretFile.value)
    const secret = yield* secretOf(provider, given)
    const settings = yield* Settings.load
    const [key = new Uint8Array()] = yield* HookAddress.hookKeys
    const id = `prv_${Id.base32(randomBytes(ID_BYTES))}`
    const token = HookAddress.makeToken(key, provider)
    const hook = { id, provider, name: Option.getOrElse(name, () => provider), token_hash: HookAddress.hashOf(token) }
    if (secret !== "") yield* (yield* Secrets).seal(HookAddress.secretRef(id), Buffer.from(secret))
    if (!(yield* ProviderHooks.add(hook)))
      return yield* new CommandRefused({
        message: `This instance has ${ProviderHooks.MAX_HOOKS} hooks, the most it can have. Remove one first.`,
      })
    const own = isOwnSecret(provider) ? secret : undefined
    const base = Settings.urlOf(settings).replace(/\/+$/u, "")
    const url = `${base}${HookAddress.PATH}${provider}/${token}`
    // SparkPost calls them client id and client secret if it uses OAuth 2.0.
    const access =
      own?.includes(":") === true && provider === "sparkpost" ? { access_url: `${url}${HookAddress.ACCESS}` } : {}
    return {
      id,
      provider,
      url,
      ...(own === undefined ? {} : { user: own.split(":")[0], password: own.split(":")[1] }),
      ...access,
    }
  },
)

/** Postmark and SparkPost prove themselves with a user and password that Waybill makes. */
const isOwnSecret = (provider: Provider): boolean => SECRETS[provider] === undefined

const secretOf = (provider: Provider, given: string | undefined): Effect.Effect<string, CommandRefused> => {
  const refuse = (message: string) => Effect.fail(new CommandRefused({ message }))
  const what = SECRETS[provider]
  if (given === undefined && what === undefined)
    return Effect.sync(() => `waybill:${randomBytes(PASSWORD_BYTES).toString("base64url")}`)
  if (given === undefined)
    return provider === "ses" ? Effect.succeed("") : refuse(`${provider} needs --secret-file with ${what}.`)
  if (given === "") return refuse("The secret is empty.")
  if (provider === "sendgrid" && !Authenticity.isVerificationKey(given))
    return refuse("This is no verification key of SendGrid.")
  if (provider === "resend" && Authenticity.resendKeyOf(given) === undefined)
    return refuse("This is no signing secret of Resend; it begins with whsec_.")
  return Effect.succeed(given)
}

const read = (file: string) =>
  Effect.try({
    try: () => readFileSync(file === "-" ? STANDARD_INPUT : file, "utf8").trim(),
    catch: () => new CommandRefused({ message: `${file} cannot be read.` }),
  })

const list = DataCommand.list(
  {},
  ["id", "provider", "name", "last_event_at", "lag_ms", "recorded", "unmatched", "refused", "last_refusal"],
  function* () {
    return yield* ProviderHooks.list()
  },
)

const id = Options.argument("id", "Id of the hook, prv_…")

const unmatched = DataCommand.list(
  { id },
  ["received_at", "kind", "recipient", "ref", "messageId", "text"],
  function* ({ id }) {
    const rows = yield* ProviderEvents.unmatched(id, MAX_SHOWN)
    return rows.map(({ event, received_at }) => ({ received_at, ...(JSON.parse(event) as object) }))
  },
)

const remove = DataCommand.plain({ id }, function* ({ id }) {
  if (!(yield* ProviderHooks.remove(id)))
    return yield* new CommandRefused({ message: `There is no hook ${id}. \`waybill providers list\` shows all.` })
  yield* (yield* Secrets).remove("", id)
  yield* Output.say(`${id} is removed. Remove its address at the provider, too.`)
})

export const providers = DataCommand.group({
  add: ["Make an address at which a mail provider reports what became of mail; it is shown once", add],
  list: ["List the addresses with their last event and how long it took to arrive", list],
  unmatched: ["Show the newest events about no known message", unmatched],
  remove: ["Remove an address; calls to it are refused from now on", remove],
}).with(Command.provide(CliStore.sealed))
