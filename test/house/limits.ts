import { bare, paths, read } from "./source.ts"

export interface Limit {
  readonly name: string
  readonly value: string
  readonly path: string
  /** The comment above it. */
  readonly reason: string
}

/** By its name: what is largest, smallest, taken when nothing is said, or measured in a unit that ends the name. */
const LIMIT_NAME =
  /^(?:MAX|MIN|DEFAULT|LARGEST|SMALLEST|LONGEST|SHORTEST)_|_(?:LIMIT|TIMEOUT|LIFETIME|DELAY|PAUSE|GRACE|EVERY|BATCH|AT_ONCE|CAP|TTL|MS|SECONDS|MINUTES|HOURS|DAYS|BYTES|OCTETS|CHARS|LINES|ROWS|CONNECTIONS|TRIES|RETRIES|ATTEMPTS)$|_PER_[A-Z]+$/

const declaration = /^(?:export )?const ([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:: [^=]+)? =\s*(.+)$/gm

const isQuantity = (value: string): boolean => /^[-\d(]|^Duration\.|^[A-Z][\w.]*(?: [-*/+] |$)|^"\d+ \w+"$/.test(value)

const commentAbove = (text: string, at: number): string => {
  const above = text.slice(0, at).trimEnd()
  const block = /\/\*\*((?:(?!\*\/)[^])*)\*\/$/.exec(above)?.[1]
  const lines = block ?? /(?:^[ \t]*\/\/[^\n]*(?:\n|$))+$/m.exec(above)?.[0] ?? ""
  return lines
    .split("\n")
    .map((line) => line.replace(/^\s*(?:\*|\/\/)\s?/, "").trim())
    .filter((line) => line !== "")
    .join(" ")
}

/** Every constant of the rooms that bounds something, in the order of its file. */
export const limits = (): ReadonlyArray<Limit> =>
  paths
    .filter((path) => /^(?:packages|apps)\/[^/]+\/src\/.*\.tsx?$/.test(path))
    .map(read)
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .flatMap(({ path, text }) => {
      const code = bare(text)
      return [...text.matchAll(declaration)].flatMap((match): ReadonlyArray<Limit> => {
        const [, name = "", value = ""] = match
        const isCode = code.includes(`const ${name}`)
        return isCode && LIMIT_NAME.test(name) && isQuantity(value)
          ? [{ name, value: value.replace(/\s*\/\/.*$/, ""), path, reason: commentAbove(text, match.index) }]
          : []
      })
    })

const room = ({ path }: Limit): string => path.split("/").slice(0, 2).join("/")

export const BEGIN = "<!-- written by scripts/limits.ts -->"
export const END = "<!-- end of what is written -->"

/** The part of docs/limits.md that is read off the code. */
export const written = (): string => {
  const all = limits()
  return [...new Set(all.map(room))]
    .map((name) => {
      const rows = all
        .filter((limit) => room(limit) === name)
        .map(
          ({ name, path, reason, value }) =>
            `| \`${name}\` | \`${value}\` | ${path.split("/src/")[1] ?? path} | ${reason.replaceAll("|", "\\|")} |`,
        )
      return [`### ${name}`, "", "| constant | value | file in src | |", "|---|---|---|---|", ...rows, ""].join("\n")
    })
    .join("\n")
}
