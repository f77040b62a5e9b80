import * as ApiKeySecret from "@waybill/domain/account/ApiKeySecret"
import { Effect, Option, Redacted } from "effect"
import { Command, Flag, Prompt } from "effect/cli"
import { CommandRefused } from "../../process/CommandRefused.ts"
import { IsInteractive } from "../IsInteractive.ts"
import * as Options from "../Options.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Output from "../Output.ts"
import { StandardInput } from "../StandardInput.ts"
import * as ApiClient from "./ApiClient.ts"
import * as Credentials from "./Credentials.ts"

/** Most characters of standard input that are read as a key. */
const MAX_KEY_INPUT_CHARS = 1_000

const url = Options.text("url", `Address of the instance, such as https://mail.example.com; asked for if left out`)

const key = Flag.Redacted("key").pipe(
  Flag.withDescription("API key; asked for if left out, or read from standard input if that is no terminal"),
  Flag.optional,
)

const askUrl = Effect.gen(function* () {
  if (!(yield* IsInteractive)) return Credentials.DEFAULT_URL
  return yield* Prompt.run(Prompt.String({ message: "Address of the instance", default: Credentials.DEFAULT_URL }))
})

/** Reads the key from standard input, so that it is in no list of processes and no history of a shell. */
const readKey = Effect.gen(function* () {
  const read = yield* StandardInput
  const text = (yield* Effect.promise(() => read(MAX_KEY_INPUT_CHARS))).trim()
  return text === ""
    ? yield* new CommandRefused({ message: "Standard input has no API key. Write it there, or use --key." })
    : Redacted.make(text)
})

const askKey = Effect.gen(function* () {
  return (yield* IsInteractive) ? yield* Prompt.run(Prompt.Password({ message: "API key (wb_…)" })) : yield* readKey
})

export const login = DataCommand.command({ url, key }, function* ({ json, key, url }) {
  const address = yield* Credentials.parseUrl(Option.isSome(url) ? url.value : yield* askUrl)
  const credentials = { url: address, key: Option.isSome(key) ? key.value : yield* askKey }
  const { client } = yield* ApiClient.connect(credentials)
  const account = yield* ApiClient.attempt(() => client.account.get())
  const path = yield* Credentials.save(credentials)
  if (Credentials.isExposed(address))
    yield* Output.complain(`waybill: ${address} is not encrypted. Others on the network can read the key.`)
  const said = `Logged in to ${account.name} (${account.id}) at ${address}. Stored in ${path}.`
  yield* Output.tell(json, { url: address, account_id: account.id, account: account.name }, said)
}).with(
  Command.withExamples([
    { command: "waybill login --url https://mail.example.com", description: "Asks for the key" },
    { command: "waybill login --url https://mail.example.com < key.txt", description: "In a script" },
  ]),
)

export const logout = DataCommand.command({}, function* ({ json }) {
  const file = yield* Credentials.file
  const removed = yield* Credentials.remove
  yield* Output.tell(json, { file, removed }, removed ? `Removed ${file}.` : "You were not logged in.")
})

export const whoami = DataCommand.record({}, function* () {
  const credentials = yield* Credentials.load
  const { client, url } = yield* ApiClient.connect(credentials)
  const [account, session] = yield* ApiClient.attempt(() => Promise.all([client.account.get(), client.session.get()]))
  return {
    url,
    profile: credentials.profile,
    account_id: account.id,
    account: account.name,
    plan: account.plan,
    key_id: session.actor.id,
    key: `${ApiKeySecret.prefixOf(Redacted.value(credentials.key) as ApiKeySecret.ApiKeySecret)}…`,
    scopes: session.scopes,
    domain: session.domain,
  }
})
