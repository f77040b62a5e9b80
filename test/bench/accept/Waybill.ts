import { spawn } from "node:child_process"
import { once } from "node:events"
import * as path from "node:path"
import { freePort } from "../../support/process/service.ts"
import * as Processes from "./Processes.ts"

const LAUNCHER = path.join(import.meta.dirname, "../../../bin/waybill.mjs")
const LOOK_EVERY_MS = 5

/** Starts the service without its worker, with a data folder of its own, and with other settings than the defaults. */
export const start = (
  databaseUrl: string,
  data: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Processes.Server> =>
  Processes.start("service.ts", { DATABASE_URL: databaseUrl, WAYBILL_DATA: data, LOG_LEVEL: "Warn", ...settings })

/**
 * Starts the service as operators do: from the bundle, which needs less memory than the sources. Without the address of a
 * database it has an embedded one in its data folder. Returns when it is ready, a process without the API at once.
 */
export const startBundled = async (
  databaseUrl: string,
  data: string,
  roles: ReadonlyArray<string>,
  settings: Readonly<Record<string, string>> = {},
): Promise<Processes.Server> => {
  const [port, smtpPort] = [await freePort(), await freePort()]
  const child = spawn(
    process.execPath,
    [LAUNCHER, "start", ...(roles.length === 0 ? [] : ["--roles", roles.join(",")])],
    {
      env: {
        ...process.env,
        DATABASE_URL: databaseUrl,
        WAYBILL_DATA: data,
        PORT: String(port),
        SMTP_PORT: String(smtpPort),
        LOG_LEVEL: "Warn",
        ...settings,
      },
      stdio: "ignore",
    },
  )
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
  const hasApi = roles.length === 0 || roles.includes("api")
  while (hasApi && !(await isReady())) {
    if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
  const stop = async () => {
    const gone = once(child, "exit")
    child.kill("SIGTERM")
    await gone
  }
  return { pid: child.pid ?? 0, port, stop }
}

const post = async ({ port }: Processes.Server, key: string, path: string, body: object): Promise<void> => {
  const response = await fetch(`http://127.0.0.1:${port}/v1${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  })
  if (response.status !== 201) throw new Error(`POST ${path} was refused: ${await response.text()}`)
}

/** Adds the sending domain; its name is reserved, so it is verified at once. */
export const addDomain = (service: Processes.Server, key: string): Promise<void> =>
  post(service, key, "/domains", { name: "acme.test" })

/** Creates and publishes a template. */
export const addTemplate = async (
  service: Processes.Server,
  key: string,
  template: { readonly alias: string },
): Promise<void> => {
  await post(service, key, "/templates", template)
  await post(service, key, `/templates/${template.alias}/publish`, {})
}
