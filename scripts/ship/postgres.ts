import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import type { Run } from "./Run.ts"

const SERVE = join(import.meta.dirname, "../../test/embedded-postgres/serve.ts")

/** Starts a database on this machine's loopback, for containers and machines that share its network. */
export const postgres = async ({ ends, scratch }: Run, name: string): Promise<string> => {
  const options = { dataDir: join(scratch, `postgres-${name}`), rootHome: join(scratch, "root"), scratch: true }
  const child = spawn(process.execPath, [SERVE, JSON.stringify({ ...options, loopback: true })], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  ends.defer(async () => {
    const ended = once(child, "exit")
    if (child.exitCode === null && child.kill()) await ended
  })
  const [line] = (await once(child.stdout, "data")) as [Buffer]
  const answer = JSON.parse(line.toString()) as { readonly url?: string; readonly error?: string }
  if (answer.url === undefined) throw new Error(`Postgres did not start: ${answer.error}`)
  return answer.url
}
