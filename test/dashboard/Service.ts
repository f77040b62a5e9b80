import { Effect, Exit, Redacted, Scope } from "effect"
import { randomBytes } from "node:crypto"
import { freshDatabase } from "../support/database.ts"
import { freePort, runToEnd, Service } from "../support/service.ts"

export interface House {
  readonly url: string
  readonly owner: { readonly email: string; readonly password: string }
  /** The administrative key of the first account. */
  readonly key: string
  readonly ask: (method: string, path: string, body?: unknown, key?: string) => Promise<Answer>
  /** The command line on the same database. */
  readonly command: (...args: ReadonlyArray<string>) => Promise<string>
  /** One of its commands that is watched while it works. */
  readonly begin: (...args: ReadonlyArray<string>) => Service
  readonly close: () => Promise<void>
}

export interface Answer {
  readonly status: number
  // The tests look into answers of every kind.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any
}

const found = (pattern: RegExp, text: string): string => {
  const [, match] = pattern.exec(text) ?? []
  if (match === undefined) throw new Error(`${String(pattern)} is not in:\n${text}`)
  return match
}

/** The dashboard as a start would build it, and the service with its first owner on a database of its own. */
export const open = async (settings: Readonly<Record<string, string>> = {}): Promise<House> => {
  const { href } = new URL("../../bin/dashboard.mjs", import.meta.url)
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
    ...settings,
  }
  const url = `http://127.0.0.1:${env.PORT}`
  const service = new Service(["start"], env)
  const close = async () => {
    await service.stop()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
  try {
    const said = await service.says("API key    wb_")
    const key = found(/API key\s+(wb_\w+)/u, said)
    return {
      url,
      key,
      owner: { email: found(/Sign in\s+(\S+)/u, said), password: found(/Sign in\s+\S+ \/ (\S+)/u, said) },
      ask: async (method, path, body, as = key) => {
        const response = await fetch(`${url}/v1${path}`, {
          method,
          headers: { authorization: `Bearer ${as}`, "content-type": "application/json" },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        })
        return { status: response.status, json: await response.json() }
      },
      command: async (...args) => {
        const { code, output } = await runToEnd(args, env)
        if (code !== 0) throw new Error(`waybill ${args.join(" ")} ended with ${code}:\n${output}`)
        return output
      },
      begin: (...args) => new Service(args, env),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
