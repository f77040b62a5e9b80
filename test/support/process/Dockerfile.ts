import { readFileSync } from "node:fs"

export interface Instruction {
  readonly word: string
  readonly rest: string
}
export interface Copy {
  readonly from: string | undefined
  readonly sources: ReadonlyArray<string>
  readonly target: string
}
export interface Stage {
  readonly name: string | undefined
  readonly instructions: ReadonlyArray<Instruction>
}

/** Reads the stages of a Dockerfile with their instructions; the last one is the image. */
export const stages = (file: string): ReadonlyArray<Stage> => {
  const lines = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.trimStart().startsWith("#"))
    .join("\n")
    .replace(/\\\n\s*/gu, "")
    .split("\n")
  const all: Array<{ name: string | undefined; instructions: Array<Instruction> }> = []
  for (const line of lines) {
    const [, word = "", rest = ""] = /^(\S+)\s+(.*)$/u.exec(line) ?? []
    if (word === "FROM") all.push({ name: / AS (\S+)$/u.exec(rest)?.[1], instructions: [] })
    all.at(-1)?.instructions.push({ word, rest })
  }
  return all
}

export const copies = ({ instructions }: Stage): ReadonlyArray<Copy> =>
  instructions
    .filter(({ word }) => word === "COPY")
    .map(({ rest }) => {
      const words = rest.split(/\s+/u)
      const from = words[0]?.startsWith("--from=") === true ? words.shift()?.slice("--from=".length) : undefined
      return { from, sources: words.slice(0, -1), target: words.at(-1) ?? "" }
    })

export const environment = ({ instructions }: Stage): Readonly<Record<string, string>> =>
  Object.fromEntries(
    instructions
      .filter(({ word }) => word === "ENV")
      .flatMap(({ rest }) => rest.split(/\s+/u).map((pair) => [pair.split("=", 1)[0], pair.replace(/^[^=]*=/u, "")])),
  )

export const last = ({ instructions }: Stage, word: string): string | undefined =>
  instructions.findLast((each) => each.word === word)?.rest

/** Returns whether a path of the context reaches the builder; the last matching line of the ignore file decides. */
export const isSent = (ignore: string, path: string): boolean => {
  let sent = true
  for (const line of ignore.split("\n").map((each) => each.trim())) {
    if (line === "" || line.startsWith("#")) continue
    const takesBack = line.startsWith("!")
    const pattern = takesBack ? line.slice(1) : line
    const expression = pattern
      .split("/")
      .map((part) => (part === "**" ? "(?:.*/)?" : `${part.replace(/[.+]/gu, "\\$&").replaceAll("*", "[^/]*")}/`))
      .join("")
      .replace(/\/$/u, "")
    if (new RegExp(`^${expression}(?:/|$)`, "u").test(path)) sent = takesBack
  }
  return sent
}
