import { Effect, Exit, Redacted, Scope } from "effect"
import { randomBytes } from "node:crypto"
import pg from "pg"
import { freshDatabase } from "../../support/postgres/Database.ts"
import * as Stop from "../../../apps/server/src/process/Stop.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import { freePort, WaybillCommand } from "../../support/process/service.ts"

export interface Instance {
  readonly url: string
  readonly owner: { readonly email: string; readonly password: string }
  /** Admin API key of the first account. */
  readonly key: string
  readonly request: (method: string, path: string, body?: unknown, key?: string) => Promise<JsonResponse>
  /** Changes the database, for what takes days. */
  readonly sql: (statement: string) => Promise<void>
  /** Runs a command of the command line on the same database and returns its output. */
  readonly runCommand: (...args: ReadonlyArray<string>) => Promise<string>
  /** Starts a command without waiting for its end. */
  readonly startCommand: (...args: ReadonlyArray<string>) => WaybillCommand
  readonly close: () => Promise<void>
}

export interface JsonResponse {
  readonly status: number
  // Tests read responses of all kinds.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any
}

const firstMatch = (pattern: RegExp, text: string): string => {
  const [, match] = pattern.exec(text) ?? []
  if (match === undefined) throw new Error(`${String(pattern)} is not in:\n${text}`)
  return match
}

type Env = Readonly<Record<string, string>>

interface Service {
  /** Waits until a text was printed, and returns all that was. */
  readonly waitForOutput: (text: string) => Promise<string>
  readonly stop: () => Promise<unknown>
}

/** Time between two looks at the output of a start. */
const LOOK_MS = 20

/** Runs the service in this process: its code is compiled once for all tests of a worker. */
const startHere = async (env: Env, scope: Scope.Scope): Promise<Service> => {
  const starting = CommandLine.start(env, "start").pipe(Effect.provideService(Stop.Overdue, Effect.void))
  const { ended, errors, printed, stop } = await Effect.runPromise(Scope.provide(starting, scope))
  const output = () => [...printed, ...errors].join("\n")
  let isOver = false
  void Effect.runPromiseExit(ended).then(() => (isOver = true))
  return {
    waitForOutput: async (text) => {
      while (!output().includes(text)) {
        if (isOver) throw new Error(output())
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
      }
      return output()
    },
    stop: () => Effect.runPromise(stop),
  }
}

/**
 * Builds the dashboard if needed and starts the service with its first owner on an own database: in this process, or in one of
 * its own, for what starts itself again.
 */
export const start = async (settings: Env = {}, where: "here" | "apart" = "here"): Promise<Instance> => {
  const { href } = new URL("../../../bin/dashboard.mjs", import.meta.url)
  const { ensureDashboard } = (await import(href)) as { readonly ensureDashboard: () => Promise<void> }
  await ensureDashboard()
  const scope = Scope.makeUnsafe()
  const database = await Effect.runPromise(Scope.provide(freshDatabase, scope))
  const env = {
    DATABASE_URL: Redacted.value(database.url),
    WAYBILL_INSTANCE_KEY: randomBytes(32).toString("base64"),
    PORT: String(await freePort()),
    SMTP_PORT: String(await freePort()),
    TRUSTED_PROXIES: "127.0.0.0/8",
    LOG_LEVEL: "Error",
    ...settings,
  }
  const url = `http://127.0.0.1:${env.PORT}`
  const service: Service = where === "here" ? await startHere(env, scope) : new WaybillCommand(["start"], env)
  const close = async () => {
    await service.stop()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
  try {
    const startupOutput = await service.waitForOutput("API key    wb_")
    const key = firstMatch(/API key\s+(wb_\w+)/u, startupOutput)
    return {
      url,
      key,
      owner: {
        email: firstMatch(/Sign in\s+(\S+)/u, startupOutput),
        password: firstMatch(/Sign in\s+\S+ \/ ([^\s"]+)/u, startupOutput),
      },
      request: async (method, path, body, as = key) => {
        const response = await fetch(`${url}/v1${path}`, {
          method,
          headers: { authorization: `Bearer ${as}`, "content-type": "application/json" },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        })
        return { status: response.status, json: await response.json() }
      },
      sql: async (statement) => {
        const client = new pg.Client({ connectionString: Redacted.value(database.url) })
        await client.connect()
        await client.query(statement)
        await client.end()
      },
      runCommand: async (...args) => {
        const { errors, exit, output } = await Effect.runPromise(CommandLine.typeWith(env, ...args))
        if (Exit.isFailure(exit)) throw new Error(`waybill ${args.join(" ")} failed:\n${output}\n${errors}`)
        return output
      },
      startCommand: (...args) => new WaybillCommand(args, env),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
