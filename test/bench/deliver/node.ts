import type * as EmbeddedPostgres from "@waybill/embedded-postgres/server/EmbeddedPostgres"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Content from "@waybill/store/content/Content"
import { Effect, ManagedRuntime, Redacted, Scope } from "effect"
import { type ChildProcess, fork, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import pg from "pg"
import { SERVICE_FLAGS } from "../../support/process/serviceFlags.ts"
import * as World from "../../support/world/World.ts"
import * as Cpu from "../accept/Cpu.ts"
import { HTML, recipient, SUBJECT, TEXT } from "./mail.ts"

/** Module that the service's main program loads first. */
const AS_IN_MAIN = "effect/schema/SchemaJITCompiler/enable"
/** Connections of a worker to the test server. */
export const CONNECTIONS = 10
/** Pause between the expected end of accepting the backlog and the time at which it is due. */
const LEAD_MILLIS = 500
/** Assumed time to accept a message before one was measured, and the factor by which the next backlog may be slower. */
const FIRST_PACE_MILLIS = 1.5
const PATIENCE = 1.5

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url))
const acquire = <A>(scope: Scope.Scope, make: () => Promise<A>, release: (made: A) => unknown): Promise<A> =>
  Effect.runPromise(
    Scope.provide(
      Effect.acquireRelease(Effect.promise(make), (made) => Effect.promise(async () => void (await release(made)))),
      scope,
    ),
  )

/** Starts a program of this folder, and waits for the port that it reports. */
export const child = (scope: Scope.Scope, file: string, ...given: ReadonlyArray<string>) =>
  acquire(
    scope,
    async () => {
      const forked = fork(here(file), given, { execArgv: [...SERVICE_FLAGS] })
      const [hello] = (await once(forked, "message")) as [{ readonly port?: number }]
      return { process: forked, pid: forked.pid ?? 0, port: hello.port ?? 0 }
    },
    ({ process }) => process.kill("SIGKILL"),
  )

const worker = (scope: Scope.Scope, url: Redacted.Redacted, port: number) =>
  acquire(
    scope,
    async () => {
      const started = spawn(
        process.execPath,
        [
          ...SERVICE_FLAGS,
          "--import",
          AS_IN_MAIN,
          here("../../support/process/workerProcess.ts"),
          Redacted.value(url),
          `${port}`,
          `${CONNECTIONS}`,
        ],
        { stdio: ["ignore", "pipe", "inherit"] },
      )
      await once(started.stdout, "data")
      return started
    },
    (started) => started.kill("SIGKILL"),
  )

/** Returns functions that give messages to a database. */
const sender = async (scope: Scope.Scope, url: Redacted.Redacted) => {
  const runtime = await acquire(
    scope,
    async () => ManagedRuntime.make(World.services(url)),
    (runtime) => runtime.dispose(),
  )
  const domain = await runtime.runPromise(World.verifiedDomain())
  const body = Content.encodeBody({ html: HTML, text: TEXT })
  const accept = (over: Readonly<Record<string, unknown>> = {}) =>
    runtime.runPromise(
      World.send(
        domain,
        {
          subject: SUBJECT,
          content: { sha256: body.sha256, has_html: true, has_text: true, attachments: [] },
          ...over,
        },
        body,
      ),
    )
  const watcher = await acquire(
    scope,
    async () => {
      const client = new pg.Client({ connectionString: Redacted.value(url) })
      await client.connect()
      return client
    },
    (client) => client.end(),
  )
  // Looks for one row in each partial index. To count the rows took Postgres 2 ms, and so a tenth of a core.
  const isEmpty = async () => {
    const { rows } = await watcher.query<{ readonly is_empty: boolean }>(`
      SELECT NOT (EXISTS (SELECT 1 FROM outbox WHERE lease_token IS NOT NULL)
        OR EXISTS (SELECT 1 FROM outbox WHERE kind = 'delivery' AND ready AND lease_token IS NULL)
        OR EXISTS (SELECT 1 FROM outbox WHERE NOT ready AND lease_token IS NULL
          AND available_at < now() + interval '1 hour')) AS is_empty`)
    return rows[0]?.is_empty ?? false
  }
  return { accept, isEmpty, url, pace: { millis: FIRST_PACE_MILLIS } }
}

export interface Node extends Awaited<ReturnType<typeof sender>> {
  readonly pids: ReadonlyArray<number>
}

/** Starts worker processes on a database. */
export const node = async (scope: Scope.Scope, url: Redacted.Redacted, port: number, count = 1): Promise<Node> => {
  const workers: Array<ChildProcess> = []
  for (let nth = 0; nth < count; nth++) workers.push(await worker(scope, url, port))
  return { ...(await sender(scope, url)), pids: workers.map(({ pid }) => pid ?? 0) }
}

export const sleep = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))
export const now = () => performance.timeOrigin + performance.now()
const inParallel = async (count: number, width: number, work: (n: number) => Promise<unknown>) => {
  let next = 0
  const lane = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: width }, lane))
}

export interface Spent {
  readonly perSecond: number
  readonly senderMicros: number
  readonly postgresMicros: number
}

export interface Drained extends Spent {
  /** Rate at which the backlog was accepted, while nothing was sent. */
  readonly acceptedPerSecond: number
}

const empty = async (on: Node): Promise<void> => {
  while (!(await on.isEmpty())) await sleep(20)
}

/** Accepts a backlog that is due at once, and waits until none of it is left in the outbox. */
export const drain = async (on: Node, postgres: EmbeddedPostgres.Running, mails: number): Promise<Drained> => {
  const began = now()
  const due = began + LEAD_MILLIS + mails * on.pace.millis * PATIENCE
  const scheduled_at = Timestamp.fromMillis(due)
  await inParallel(mails, 64, (n) => on.accept({ scheduled_at, to: [{ address: recipient(n) }] }))
  on.pace.millis = (now() - began) / mails
  // Accepting was slower than expected, so the first messages have left already: measure again.
  if (now() > due) {
    await empty(on)
    return drain(on, postgres, mails)
  }
  await sleep(due - now())
  const before = [Cpu.ofProcesses(on.pids), Cpu.ofTree(postgres.pid)] as const
  await empty(on)
  const seconds = (now() - due) / 1000
  return {
    perSecond: mails / seconds,
    senderMicros: ((Cpu.ofProcesses(on.pids) - before[0]) * 1000) / mails,
    postgresMicros: ((Cpu.ofTree(postgres.pid) - before[1]) * 1000) / mails,
    acceptedPerSecond: 1000 / on.pace.millis,
  }
}
