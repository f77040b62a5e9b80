import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { setTimeout as pause } from "node:timers/promises"

export type Words = readonly [command: string, ...args: ReadonlyArray<string>]

interface Where {
  readonly cwd?: string
  /** Standard input. */
  readonly input?: string
}

interface Ended {
  readonly code: number | null
  readonly stdout: string
  /** Standard output and standard error, in order. */
  readonly output: string
}

const PAUSE_MS = 250

export const attempt = async ([command, ...args]: Words, { input = "", ...where }: Where = {}): Promise<Ended> => {
  const child = spawn(command, args, { ...where, stdio: ["pipe", "pipe", "pipe"] })
  let [stdout, output] = ["", ""]
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text
    output += text
  })
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text))
  // A process that ends before it has read all input reports its error through its exit code.
  child.stdin.on("error", () => undefined).end(input)
  const [code] = (await once(child, "close")) as [number | null]
  return { code, stdout: stdout.trimEnd(), output: output.trimEnd() }
}

/** Runs a command and returns its standard output. Fails unless it exits with 0. */
export const run = async (words: Words, where: Where = {}): Promise<string> => {
  const { code, output, stdout } = await attempt(words, where)
  if (code !== 0) throw new Error(`${words.join(" ")}\nexited with ${code}\n${output}`)
  return stdout
}

export const works = async (words: Words): Promise<boolean> =>
  has(words[0]) && (await attempt(words).then(({ code }) => code === 0))

export const has = (command: string): boolean => spawnSync("sh", ["-c", `command -v "$0"`, command]).status === 0

/** Repeats a check until it returns a value, and returns that value. Fails after `seconds`. */
export const until = async <A>(what: string, seconds: number, check: () => Promise<A | undefined>): Promise<A> => {
  const end = performance.now() + seconds * 1_000
  while (performance.now() < end) {
    const value = await check()
    if (value !== undefined) return value
    await pause(PAUSE_MS)
  }
  throw new Error(`timeout after ${seconds} s: ${what}`)
}

export const secondsOf = async (task: () => Promise<unknown>): Promise<number> => {
  const began = performance.now()
  await task()
  return (performance.now() - began) / 1_000
}

export const demand = (holds: boolean, otherwise: string): void => {
  if (!holds) throw new Error(otherwise)
}
