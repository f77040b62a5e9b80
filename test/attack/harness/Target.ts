import type * as Account from "@waybill/domain/account/Account"
import type { EventStore } from "@waybill/store/commit/EventStore"
import { Effect, Option, Redacted } from "effect"
import { InstanceKey } from "@waybill/store/secrets/InstanceKey"
import * as ReturnPath from "@waybill/mail/tokens/ReturnPath"
import * as Unsubscribe from "@waybill/mail/tokens/Unsubscribe"
import { randomBytes } from "node:crypto"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import type * as Database from "../../support/postgres/Database.ts"
import { freePort, WaybillCommand } from "../../support/process/service.ts"
import { sendRequest, type Browser, browser, type Endpoint } from "./http.ts"
import { withTimeout } from "./Scenario.ts"
import * as World from "../../support/world/World.ts"
import { NOWHERE } from "../../support/nowhere.ts"

/** A start takes a second, and on a machine that does much else a hundred times as long. */
const READY_MS = 240_000
const RETURN_PATH_DOMAIN = "bounces.waybill.test"
/** Length of the quoted output of a service that did not start. */
const QUOTED_CHARS = 2_000
const NO_LIMIT = 100_000

/** A customer with a domain, whose limits are too high to affect an attack. */
export interface Customer {
  readonly account_id: string
  readonly key: string
  /** A key of the account's test mode. */
  readonly testKey: string
  readonly domain: string
}

/** A running service and what an attacker who is a customer can use. */
export interface Target {
  readonly http: Endpoint
  readonly url: string
  readonly smtpPort: number
  readonly mailPort: number
  readonly pid: number
  readonly settings: Readonly<Record<string, string>>
  /** Database and first secrets, shared with further processes. */
  readonly deployment: Deployment
  /** Returns the output of the process until now. */
  readonly output: () => string
  readonly owner: Owner
  readonly customer: (limits?: Partial<Account.Limits>) => Promise<Customer>
  /** Returns a valid return path, which every recipient of the email knows. */
  readonly returnPath: (customer: Customer, emailId: string) => string
  /** Returns the token in the List-Unsubscribe header of an email. */
  readonly unsubscribeToken: (customer: Customer, emailId: string) => string
  /** Returns a browser of the dashboard, signed in as the first owner. */
  readonly signedIn: (from?: string) => Promise<Browser>
  /** Returns a browser of the dashboard that is not signed in. */
  readonly visitor: (from?: string) => Browser
  /** Stops the process and returns how long it took; kills the process after `within_ms`. */
  readonly stop: (within_ms: number) => Promise<{ readonly code: number | null; readonly took_ms: number }>
  readonly kill: () => Promise<void>
}
/** First owner and first key, as the first start prints them. */
interface Owner {
  readonly email: string
  readonly password: string
  readonly key: string
}

export interface Deployment {
  readonly database: Database.Database
  readonly run: <A>(effect: Effect.Effect<A, never, EventStore>) => Promise<A>
  /** Secrets that the first start on this database printed; set by that start. */
  owner: Owner | undefined
}

const instanceKey = randomBytes(32).toString("base64")

/** Keys with which this instance signs addresses and links. */
const secretKeys = Effect.map(InstanceKey, ({ derive }) => ({
  returnPath: derive("return path")[0] ?? new Uint8Array(),
  unsubscribe: derive("unsubscribe")[0] ?? new Uint8Array(),
})).pipe(
  Effect.provide(InstanceKey.layer({ file: NOWHERE, text: Option.some(Redacted.make(instanceKey)) })),
  Effect.orDie,
)

/** Starts a process of the service; `settings` override those that all attacks share. */
export const start = async (
  deployment: Deployment,
  settings: Readonly<Record<string, string>> = {},
): Promise<Target> => {
  const [port, smtpPort, mailPort] = await Promise.all([freePort(), freePort(), freePort()])
  const data = await fs.mkdtemp(path.join(os.tmpdir(), "waybill-attack-"))
  const env: Readonly<Record<string, string>> & { readonly BASE_URL?: string } = {
    DATABASE_URL: Redacted.value(deployment.database.url),
    WAYBILL_INSTANCE_KEY: instanceKey,
    WAYBILL_DATA: data,
    PORT: String(port),
    SMTP_PORT: String(smtpPort),
    MAIL_PORT: String(mailPort),
    RETURN_PATH_DOMAIN,
    WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8",
    LOG_LEVEL: "Error",
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
    ...settings,
  }
  const service = new WaybillCommand(["start"], env)
  const text = await withTimeout(READY_MS, service.waitForOutput("Waybill is ready"), undefined)
  const pid = service.child.pid
  if (text === undefined || pid === undefined) throw new Error(`the service did not start:\n${service.output}`)
  if (deployment.owner === undefined) await service.waitForOutput("API key    wb_")
  deployment.owner ??= ownerIn(service.output)
  const { owner } = deployment
  const http = { host: settings["HOST"] ?? "127.0.0.1", port }
  const keys = await Effect.runPromise(secretKeys)
  const url = `http://${http.host.includes(":") ? `[${http.host}]` : http.host}:${port}`
  const end = async (signal: NodeJS.Signals, within_ms: number) => {
    const startedAt = performance.now()
    const exit = await withTimeout(within_ms, service.stop(signal), undefined)
    const took_ms = performance.now() - startedAt
    if (exit === undefined) await service.stop("SIGKILL")
    await fs.rm(data, { recursive: true, force: true })
    return { code: exit?.code ?? null, took_ms }
  }
  const visitor = (from?: string) => browser(http, env.BASE_URL ?? url, from)
  return {
    http,
    url,
    deployment,
    smtpPort,
    mailPort,
    pid,
    owner,
    settings: env,
    output: () => service.output,
    customer: (limits) => customer(deployment, http, limits),
    returnPath: ({ account_id }, emailId) =>
      ReturnPath.make(keys.returnPath, RETURN_PATH_DOMAIN, {
        account_id,
        emailId: emailId as never,
        recipientIndex: 0,
      }),
    unsubscribeToken: ({ account_id }, email_id) =>
      Unsubscribe.token(keys.unsubscribe, { account_id: account_id as never, email_id: email_id as never }),
    visitor,
    signedIn: async (from) => {
      const page = visitor(from)
      const { email, password } = owner
      const { status, text } = await page.request("POST", "/auth/sign-in/email", { email, password })
      if (status !== 200)
        throw new Error(`the owner could not sign in: ${status} ${text}\n${service.output.slice(-QUOTED_CHARS)}`)
      return page
    },
    stop: (within_ms) => end("SIGTERM", within_ms),
    kill: async () => void (await end("SIGKILL", READY_MS)),
  }
}

/** Loads the sign-in library, which a process does at the first request that needs it. */
export const warmUp = async ({ customer, http, signedIn }: Target): Promise<void> => {
  await send(http, await customer())
  await signedIn()
}

/** Starts another process on the same database, for attacks that end the service or need other settings. */
export const startAnother = (target: Target, settings: Readonly<Record<string, string>> = {}): Promise<Target> =>
  start(target.deployment, settings)

const ownerIn = (output: string): Owner => {
  const [, email = "", password = ""] = /Sign in {4}(\S+) \/ ([^\s"]+)/u.exec(output) ?? []
  const [, key = ""] = /API key {4}(wb_\w+)/u.exec(output) ?? []
  return { email, password, key }
}

let customers = 0
const customer = async (
  { run }: Deployment,
  http: Endpoint,
  limits: Partial<Account.Limits> = {},
): Promise<Customer> => {
  const { account_id, secret, testKey } = await run(
    Effect.gen(function* () {
      const account_id = yield* World.account({
        limits: { send: NO_LIMIT, logs: NO_LIMIT, other: NO_LIMIT, ...limits },
      })
      const { secret: testKey } = yield* World.key(account_id, { mode: "test" })
      return { account_id, testKey, ...(yield* World.key(account_id)) }
    }),
  )
  const domain = `attacker${customers++}.test`
  const added = await sendRequest(http, "POST", "/v1/domains", { key: secret, body: { name: domain } })
  if (added.status !== 201) throw new Error(`no domain: ${added.status} ${added.text}`)
  return { account_id, key: secret, testKey, domain }
}

/** Sends a mail and returns its id. */
export const send = async (
  http: Endpoint,
  { domain, key }: Customer,
  overrides: Readonly<Record<string, unknown>> = {},
): Promise<string> => {
  const body = { from: `hi@${domain}`, to: "ana@example.org", subject: "x", text: "x", ...overrides }
  const sent = await sendRequest(http, "POST", "/v1/email/send", { key, body })
  if (sent.status !== 200) throw new Error(`not sent: ${sent.status} ${sent.text}`)
  return String(sent.json.id)
}
