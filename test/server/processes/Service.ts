import * as Account from "@waybill/domain/account/Account"
import type * as Id from "@waybill/domain/values/Id"
import type * as Plan from "@waybill/domain/account/Plan"
import type * as Scope from "@waybill/domain/account/Scope"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Effect, Redacted } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import * as os from "node:os"
import * as path from "node:path"
import { createInterface } from "node:readline"
import { createApiKey } from "../../../apps/server/src/operate/apiKeys.ts"
import { newId, now } from "../../../apps/server/src/operate/fresh.ts"
import { freePort } from "../../support/process/service.ts"

/** A process of the service. */
export interface Service {
  readonly url: string
  readonly ask: (method: string, path: string, options: Ask) => Promise<Answer>
  /** Stops the process in an orderly way, and returns its exit code. */
  readonly stop: Effect.Effect<number | null>
  /** Returns the output so far. */
  readonly said: () => string
  /** Kills the process. */
  readonly kill: Effect.Effect<void>
  /** Sends a signal, such as SIGSTOP or SIGCONT. */
  readonly signal: (signal: "SIGSTOP" | "SIGCONT" | "SIGUSR2") => void
}
export interface Ask {
  readonly key: string
  readonly body?: unknown
  readonly idempotencyKey?: string
  readonly headers?: Readonly<Record<string, string>>
}
export interface Answer {
  readonly status: number
  readonly headers: Headers
  // Untyped, since tests read responses of every kind.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any
  /** Times of the request and its response, by this process's monotonic clock. */
  readonly asked: number
  readonly answered: number
}

/** The instance key of all processes. */
export const instanceKey = randomBytes(32).toString("base64")

const MAIN = path.join(import.meta.dirname, "../../../bin/main.mjs")
/** Without a worker, so that every commit is a request. */
const API_ONLY = path.join(import.meta.dirname, "../../bench/accept/service.ts")

/** Runs `waybill start` on a database. */
export const start = (url: Redacted.Redacted, settings: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function* () {
    const [free, smtpPort] = yield* Effect.promise(() => Promise.all([freePort(), freePort()]))
    const port = Number(settings["PORT"] ?? free)
    const env = { PORT: String(port), SMTP_PORT: String(smtpPort), ...settings }
    return yield* run([MAIN, "start"], url, env, (line) => (line.startsWith("Waybill is ready") ? port : undefined))
  })

export const startApi = (url: Redacted.Redacted) =>
  run([API_ONLY], url, {}, (line) => (/^\d+$/u.test(line) ? Number(line) : undefined))

const run = (
  args: ReadonlyArray<string>,
  url: Redacted.Redacted,
  env: Readonly<Record<string, string>>,
  portIn: (line: string) => number | undefined,
) =>
  Effect.acquireRelease(
    Effect.promise(async (): Promise<Service> => {
      const child = spawn(process.execPath, args, {
        env: {
          ...process.env,
          // vitest sets its own value.
          BASE_URL: "",
          DATABASE_URL: Redacted.value(url),
          WAYBILL_INSTANCE_KEY: instanceKey,
          WAYBILL_DATA: path.join(os.tmpdir(), "waybill-processes"),
          LOG_LEVEL: "Error",
          ...env,
        },
        stdio: ["ignore", "pipe", "pipe"],
      })
      const output: Array<string> = []
      for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => output.push(String(chunk)))
      const port = await ready(child, portIn)
      const gone = once(child, "close") as Promise<Array<number | null>>
      const end = (signal: NodeJS.Signals) =>
        Effect.promise(async () => {
          child.kill(signal)
          return (await gone)[0] ?? null
        })
      return {
        url: `http://127.0.0.1:${port}`,
        said: () => output.join(""),
        kill: Effect.asVoid(end("SIGKILL")),
        stop: end("SIGTERM"),
        signal: (signal) => void child.kill(signal),
        ask: (method, path, options) => ask(port, method, path, options),
      }
    }),
    ({ kill }) => kill,
  )

const ready = (child: ChildProcess, portIn: (line: string) => number | undefined): Promise<number> =>
  new Promise((resolve, reject) => {
    let said = ""
    child.stderr?.on("data", (chunk) => (said += chunk))
    // Waits until all output has been read.
    child.once("close", (code) => reject(new Error(`the service ended with ${code}:\n${said}`)))
    if (child.stdout === null) return reject(new Error("the service has no output"))
    createInterface(child.stdout).on("line", (line) => {
      said += `${line}\n`
      const port = portIn(line)
      if (port !== undefined) resolve(port)
    })
  })

const ask = async (port: number, method: string, path: string, options: Ask): Promise<Answer> => {
  const asked = performance.now()
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: {
      ...options.headers,
      authorization: `Bearer ${options.key}`,
      ...(options.body === undefined ? {} : { "content-type": "application/json" }),
      ...(options.idempotencyKey === undefined ? {} : { "idempotency-key": options.idempotencyKey }),
    },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
  })
  const json: unknown = await response.json()
  return { status: response.status, headers: response.headers, json, asked, answered: performance.now() }
}

export interface Tenant {
  readonly plan?: Plan.Plan
  readonly limits?: Partial<Account.Limits>
}

/** Creates an account with the given limits. */
export const account = Effect.fnUntraced(function* ({ limits = {}, plan = "business" }: Tenant = {}) {
  const store = yield* EventStore
  const account_id = yield* newId("AccountId")
  const ref = { account_id, stream_id: account_id }
  yield* Effect.orDie(store.commit(Account, ref, Account.create(yield* now, account_id, "Acme", plan)))
  if (Object.keys(limits).length > 0) {
    const granted = { ...Account.NONE_GRANTED, ...limits }
    yield* Effect.orDie(store.commit(Account, ref, Account.changeLimits(yield* now, granted)))
  }
  return account_id
})

export const key = (account_id: Id.AccountId, scopes: ReadonlyArray<Scope.Scope> = ["admin"]) =>
  Effect.orDie(
    createApiKey(account_id, null, {
      name: "test",
      scopes: [...scopes],
      domain: null,
      allowed_ips: [],
      expires_at: null,
    }),
  )

export const tally = (answers: ReadonlyArray<Answer>): Readonly<Record<number, number>> => {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** Makes so many requests, a few at a time. */
export const many = async (times: number, one: (nth: number) => Promise<Answer>): Promise<ReadonlyArray<Answer>> => {
  const answers: Array<Answer> = []
  let next = 0
  const loop = async () => {
    while (next < times) answers.push(await one(next++))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, loop))
  return answers
}
const AT_ONCE = 24
