import { type ChildProcess, spawn } from "node:child_process"
import { randomInt } from "node:crypto"
import { once } from "node:events"
import { createServer } from "node:net"
import { fileURLToPath } from "node:url"

/** What runs a command: what the set-up of the tests has bundled, if it ran. */
export const MAIN = process.env["WAYBILL_TEST_MAIN"] ?? fileURLToPath(new URL("../../../bin/main.mjs", import.meta.url))
/** What launches a command enables it otherwise. */
const COMPILED = process.env["NODE_COMPILE_CACHE"]

/** Range of ports below the ephemeral ones, so that no outgoing connection of another test takes a port in between. */
const [FIRST_PORT, LAST_PORT] = [15_000, 32_000]
/** Each worker of a run has a range of its own, so that no other worker takes a port between its choice and its use. */
const WORKERS = 8
const STRETCH = Math.floor((LAST_PORT - FIRST_PORT) / WORKERS)
const first = FIRST_PORT + ((Number(process.env["VITEST_POOL_ID"] ?? 1) - 1) % WORKERS) * STRETCH
/** Random first port, because other runs on this machine have the same ranges; later calls take the next one. */
let turn = randomInt(STRETCH)

/** Returns a port that was free a moment ago; each port is returned once. */
export const freePort = async (): Promise<number> => {
  const port = first + (turn++ % STRETCH)
  const server = createServer().listen(port, "127.0.0.1")
  const isFree = await once(server, "listening").then(
    () => true,
    () => false,
  )
  if (!isFree) return freePort()
  server.close()
  await once(server, "close")
  return port
}

export interface Ended {
  readonly code: number | null
  readonly output: string
}

interface Where {
  readonly cwd?: string
  /** The launcher of an installed package, if not that of the checkout. */
  readonly main?: string
  /** The Node that runs the launcher, if not this one. */
  readonly node?: string
}

/** Process of `waybill` with these arguments, as an operator runs it. */
export class WaybillCommand {
  output = ""
  readonly child: ChildProcess
  readonly ended: Promise<Ended>

  constructor(
    args: ReadonlyArray<string>,
    env: Readonly<Record<string, string>>,
    { cwd, main = MAIN, node = process.execPath }: Where = {},
  ) {
    this.child = spawn(node, [main, ...args], {
      ...(cwd === undefined ? {} : { cwd }),
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: process.env["HOME"] ?? "/",
        ...(COMPILED === undefined || main !== MAIN ? {} : { NODE_COMPILE_CACHE: COMPILED }),
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    })
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding("utf8")
      stream?.on("data", (text: string) => {
        this.output += text
      })
    }
    this.ended = once(this.child, "close").then(([code]: Array<number | null>) => ({
      code: code ?? null,
      output: this.output,
    }))
  }

  /** Waits until a text was printed; throws when the process ends before. */
  async waitForOutput(text: string): Promise<string> {
    let over = false
    void this.ended.then(() => (over = true))
    while (!this.output.includes(text)) {
      if (over) throw new Error(`it ended without saying "${text}":\n${this.output}`)
      await this.#more()
    }
    return this.output
  }

  /** Waits for the next output on either stream, or for the end. */
  async #more(): Promise<void> {
    const heard = new AbortController()
    const streams = [this.child.stdout, this.child.stderr].flatMap((stream) => stream ?? [])
    await Promise.race([this.ended, ...streams.map((stream) => once(stream, "data", { signal: heard.signal }))])
    heard.abort()
  }

  stop(signal: NodeJS.Signals = "SIGTERM"): Promise<Ended> {
    this.child.kill(signal)
    return this.ended
  }
}

export const runToEnd = (
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
  where: Where = {},
): Promise<Ended> => new WaybillCommand(args, env, where).ended
