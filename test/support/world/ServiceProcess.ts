import { Effect, Redacted } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import * as os from "node:os"
import * as path from "node:path"
import { createInterface } from "node:readline"
import { freePort, MAIN } from "../process/service.ts"
import * as World from "./World.ts"

/** Process of the service, and requests to it. */
export interface ServiceProcess {
  readonly url: string
  readonly pid: number
  readonly request: (method: string, path: string, options: RequestOptions) => Promise<Answer>
  /** Stops the process as a rolling restart does, and returns its exit code. */
  readonly stop: Effect.Effect<number | null>
  /** Output so far, of both streams. */
  readonly output: () => string
  /** Kills the process at once. */
  readonly kill: Effect.Effect<void>
  /** Freezes the process, resumes it, or signals a module that was loaded before it. */
  readonly signal: (signal: "SIGSTOP" | "SIGCONT" | "SIGUSR2") => void
}
export interface RequestOptions {
  readonly key: string
  readonly body?: unknown
  readonly idempotencyKey?: string
  readonly headers?: Readonly<Record<string, string>>
}
export interface Answer {
  readonly status: number
  readonly headers: Headers
  // Tests read responses of every kind.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any
  /** When the request left and when its response was read, by this process's monotonic clock. */
  readonly sentAt: number
  readonly answeredAt: number
}

/** Program of the service without its worker, so that each of its commits is a request. */
const API_ONLY = path.join(import.meta.dirname, "../../bench/accept/service.ts")

/** Starts `waybill start` on a database, in a folder. */
export const start = (url: Redacted.Redacted, settings: Readonly<Record<string, string>> = {}, cwd = process.cwd()) =>
  Effect.gen(function* () {
    const [free, smtpPort] = yield* Effect.promise(() => Promise.all([freePort(), freePort()]))
    const port = Number(settings["PORT"] ?? free)
    const env = { PORT: String(port), SMTP_PORT: String(smtpPort), ...settings }
    return yield* run([MAIN, "start"], url, { env, cwd }, (line) =>
      line.includes("Waybill is ready") ? port : undefined,
    )
  })

/** Starts the service without its worker on a database, with flags of Node. */
export const startApi = (url: Redacted.Redacted, flags: ReadonlyArray<string> = []) =>
  run([...flags, API_ONLY], url, { env: {} }, (line) => (/^\d+$/u.test(line) ? Number(line) : undefined))

const run = (
  args: ReadonlyArray<string>,
  url: Redacted.Redacted,
  { cwd, env }: { readonly env: Readonly<Record<string, string>>; readonly cwd?: string },
  portIn: (line: string) => number | undefined,
) =>
  Effect.acquireRelease(
    Effect.promise(async (): Promise<ServiceProcess> => {
      const child = spawn(process.execPath, args, {
        env: {
          ...process.env,
          // vitest sets another one.
          BASE_URL: "",
          DATABASE_URL: Redacted.value(url),
          WAYBILL_INSTANCE_KEY: World.INSTANCE_KEY,
          WAYBILL_DATA: path.join(os.tmpdir(), "waybill-processes"),
          LOG_LEVEL: "Error",
          ...env,
        },
        stdio: ["ignore", "pipe", "pipe"],
        ...(cwd === undefined ? {} : { cwd }),
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
        pid: child.pid ?? 0,
        output: () => output.join(""),
        kill: Effect.asVoid(end("SIGKILL")),
        stop: end("SIGTERM"),
        signal: (signal) => void child.kill(signal),
        request: (method, path, options) => sendRequest(port, method, path, options),
      }
    }),
    ({ kill }) => kill,
  )

const ready = (child: ChildProcess, portIn: (line: string) => number | undefined): Promise<number> =>
  new Promise((resolve, reject) => {
    let output = ""
    child.stderr?.on("data", (chunk) => (output += chunk))
    // "close" follows the end of both streams, so that the error quotes all of the output.
    child.once("close", (code) => reject(new Error(`the service ended with ${code}:\n${output}`)))
    if (child.stdout === null) return reject(new Error("the service has no output"))
    createInterface(child.stdout).on("line", (line) => {
      output += `${line}\n`
      const port = portIn(line)
      if (port !== undefined) resolve(port)
    })
  })

const sendRequest = async (port: number, method: string, path: string, options: RequestOptions): Promise<Answer> => {
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
  return { status: response.status, headers: response.headers, json, sentAt: asked, answeredAt: performance.now() }
}

/** Creates an account with a key and adds a domain at the node; returns what the account's owner does there. */
export const signUp = Effect.fnUntraced(function* (
  node: ServiceProcess,
  { domain = "acme.test", ...tenant }: World.Tenant & { readonly domain?: string } = {},
) {
  const account_id = yield* World.account(tenant)
  const { secret: key } = yield* World.key(account_id)
  const post = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    Effect.promise(() => node.request("POST", path, { key, body, headers }))
  const { status } = yield* post("/v1/domains", { name: domain })
  if (status !== 201) return yield* Effect.die(new Error(`the domain was not added: ${status}`))
  return { account_id, key, post }
})

/** Number of responses of each status. */
export const countByStatus = (answers: ReadonlyArray<Answer>): Readonly<Record<number, number>> => {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** Sends requests, a few at a time, as a busy client does. */
export const sendMany = async (
  times: number,
  request: (nth: number) => Promise<Answer>,
): Promise<ReadonlyArray<Answer>> => {
  const answers: Array<Answer> = []
  let next = 0
  const loop = async () => {
    while (next < times) answers.push(await request(next++))
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, loop))
  return answers
}
const CONCURRENCY = 24
