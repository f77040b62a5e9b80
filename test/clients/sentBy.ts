import { Effect } from "effect"
import { execFile } from "node:child_process"
import { HttpWorld } from "../support/world/HttpWorld.ts"

export const PRELOAD = `--import=${new URL("../../packages/redirect/src/preload.ts", import.meta.url).href}`

/** Maximum time of a program that loads many packages, on a busy machine: less than that of a test. */
const TIMEOUT_MS = 150_000

/** Installs what the lock file of a folder names. */
export const installed = async (folder: string): Promise<void> => {
  const { href } = new URL("../../bin/install.mjs", import.meta.url)
  const { ensureModules } = (await import(href)) as {
    readonly ensureModules: (options: { readonly dev: boolean; readonly folder: string }) => Promise<void>
  }
  await ensureModules({ dev: true, folder })
}

interface Outcome {
  readonly name: string
  readonly send: string
  readonly batch?: string
  readonly refused: string
}

interface Listed {
  readonly id: string
  readonly subject: string
}

/** Runs a program that sends with several clients, in a process of its own, and returns what each made of it and what it sent. */
export const sentBy = Effect.fnUntraced(function* (
  folder: string,
  args: ReadonlyArray<string>,
  more: Readonly<Record<string, string>> = {},
) {
  const world = yield* HttpWorld
  const { secret: key } = yield* world.key(yield* world.account())
  yield* world.request("POST", "/v1/domains", { key, body: { name: "acme.test" } })
  const env = {
    PATH: process.env["PATH"] ?? "",
    KEY: key,
    WAYBILL_URL: world.url,
    RESEND_BASE_URL: `${world.url}/compat/resend`,
    ...more,
  }
  const { stderr, stdout } = yield* Effect.promise(
    () =>
      new Promise<{ readonly stdout: string; readonly stderr: string }>((resolve) =>
        execFile(
          process.execPath,
          ["--no-warnings", ...args],
          { cwd: folder, env, timeout: TIMEOUT_MS },
          (_, out, err) => resolve({ stdout: out, stderr: err }),
        ),
      ),
  )
  const outcomes = stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Outcome)
  const { json } = yield* world.request("GET", "/v1/email/logs?limit=100", { key })
  const emailsOf = (name: string) =>
    (json.data as ReadonlyArray<Listed>).filter(({ subject }) => subject.split(" ").at(-1) === `${name}.test`)
  const filesOf = Effect.fnUntraced(function* (name: string) {
    const logs = yield* Effect.forEach(emailsOf(name), ({ id }) =>
      world.request("GET", `/v1/email/logs/${id}`, { key }),
    )
    return logs.flatMap(({ json: log }) =>
      log.content.attachments.map((file: { readonly filename: string; readonly size_bytes: number }) => [
        file.filename,
        file.size_bytes,
      ]),
    )
  })
  return { outcomes, emailsOf, filesOf, stderr }
})
