import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { chmod, mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert } from "../effectTest.ts"
import { MAIN } from "./service.ts"

/**
 * Commands of a document. The text after `sh` says how the test treats a fence:
 *
 * | fence          | the test                                                     |
 * |----------------|--------------------------------------------------------------|
 * | `sh`           | runs it; every command has to succeed                        |
 * | `sh exit=3`    | runs it; it has to end with 3                                |
 * | `sh service`   | runs it until the service is ready, then stops it            |
 * | `sh cluster`   | runs it where there is a Citus cluster                       |
 * | `sh servers`   | runs it with servers for cells beside the first one          |
 * | `sh elsewhere` | checks its syntax; it needs systemd, Docker or root          |
 *
 * Inline code is not run; `inline` lists it.
 *
 * Names in capitals (`$ACCOUNT`, `$WAYBILL_KEY`) are variables that the test sets; ports are replaced by free ones.
 */
export interface Block {
  readonly file: string
  readonly line: number
  readonly how: "run" | "service" | "cluster" | "servers" | "elsewhere"
  readonly exit: number
  readonly text: string
}

export const blocks = (file: string): ReadonlyArray<Block> => {
  const all: Array<Block> = []
  const text = readFileSync(file, "utf8")
  for (const { 0: whole, 1: info = "", 2: body = "", index } of text.matchAll(/^```sh([^\n]*)\n([^]*?)^```$/gmu)) {
    const [, word, exit] =
      /^(?: (service|cluster|servers|elsewhere|exit=(\d+)))?$/u.exec(info) ?? assert.fail(`${file}: sh${info}`)
    assert.notMatch(body, /^```/mu, `${file}: a fence inside of a fence: ${whole}`)
    const how = word === "service" || word === "cluster" || word === "servers" || word === "elsewhere" ? word : "run"
    all.push({ file, line: text.slice(0, index).split("\n").length + 1, how, exit: Number(exit ?? 0), text: body })
  }
  return all
}

/**
 * Lines of the fence that starts with this text, of any language; for settings and statements that a test uses itself.
 */
export const lines = (file: string, first: string): ReadonlyArray<string> => {
  const bodies = [...readFileSync(file, "utf8").matchAll(/^```[^\n]*\n([^]*?)^```$/gmu)].map(([, body = ""]) => body)
  const body = bodies.find((each) => each.startsWith(first)) ?? assert.fail(`${file} has no ${first}`)
  return body.trimEnd().split("\n")
}

/** Words after `waybill` in inline code. */
export const inline = (file: string): ReadonlyArray<ReadonlyArray<string>> => {
  const text = readFileSync(file, "utf8").replace(/^```[^]*?^```$/gmu, "")
  return [...text.matchAll(/`(?:npx )?waybill\s([^`]+)`/gu)].map(([, words = ""]) => words.trim().split(/[\s|\\[\]]+/u))
}

export interface Place {
  /** Folder in which the commands run. */
  readonly checkout: string
  readonly env: Readonly<Record<string, string>>
  /** Replacements of text in the document: `127.0.0.1:3025` becomes the address of the service in the test. */
  readonly instead: Readonly<Record<string, string>>
}

interface Ended {
  readonly code: number | null
  readonly output: string
}

/** Replaces npx and the launcher, which take a second each time to look up the checkout's `bin` and all of its sources. */
const NPX = `#!/bin/sh
export NODE_COMPILE_CACHE="${process.env["NODE_COMPILE_CACHE"] ?? ""}"
if [ "$1" = waybill ]; then shift; exec "${process.execPath}" "${MAIN}" "$@"; fi
echo "npx has no $1 here" >&2
exit 127
`

/** Creates a folder with the commands that documents call, for the front of PATH. */
export const shims = async (folder: string): Promise<string> => {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, "npx"), NPX)
  await chmod(join(folder, "npx"), 0o755)
  return folder
}

/** Returns a script that stops at its first failure; `exec` passes a signal on to the last command. */
const script = ({ how, text }: Block, instead: Place["instead"]): string => {
  const here = Object.entries(instead).reduce((words, [written, meant]) => words.replaceAll(written, meant), text)
  return `set -euo pipefail\n${how === "service" ? here.replace(/^(npx waybill start|npm start)/mu, "exec $1") : here}`
}

/** Checks the syntax without running the commands (`bash -n`). */
export const isReadable = async (block: Block): Promise<Ended> => ended(["-n", "-c", block.text], {}, process.cwd())

export const run = async (block: Block, { checkout, env, instead }: Place): Promise<Ended> => {
  const isService = block.how === "service"
  return ended(["-c", script(block, instead)], env, checkout, isService ? "Waybill is ready" : undefined)
}

const ended = async (
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
  cwd: string,
  until?: string,
): Promise<Ended> => {
  const child = spawn("bash", args, { cwd, env: { PATH: process.env["PATH"] ?? "", ...env }, stdio: "pipe" })
  let output = ""
  let isStopped = false
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8")
    stream.on("data", (text: string) => {
      output += text
      if (until !== undefined && !isStopped && output.includes(until)) {
        isStopped = true
        child.kill("SIGTERM")
      }
    })
  }
  child.stdin.end()
  const [code] = (await once(child, "close")) as [number | null]
  if (until !== undefined && !isStopped) return { code: code === 0 ? 1 : code, output: `never "${until}":\n${output}` }
  return { code, output }
}
