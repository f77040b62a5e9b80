import { globSync, readFileSync } from "node:fs"

/** The last column of the threats on this page is written from the tests that name them; a test holds it current. */
export const FILE = "docs/security.md"

/** Files of `test` by threat, with the number of tests in each that have a line `// threat: name`. */
export const holders = (): ReadonlyMap<string, ReadonlyMap<string, number>> => {
  const found = new Map<string, Map<string, number>>()
  for (const path of globSync("test/**/*.ts").toSorted())
    for (const [, names = ""] of readFileSync(path, "utf8").matchAll(/^ *\/\/ threat: (.+)$/gmu))
      for (const name of names.split(", ")) {
        const files = found.get(name) ?? new Map<string, number>()
        files.set(path, (files.get(path) ?? 0) + 1)
        found.set(name, files)
      }
  return found
}

/** Rows of the threats: the name of each, and the line up to its last column. */
export const threats = (text: string): ReadonlyArray<{ readonly name: string; readonly row: string }> =>
  [...text.matchAll(/^(\| `([a-z-]+)` \| [^|]+ \| [^|]+ \|) [^|]*\|$/gmu)].map(([, row = "", name = ""]) => ({
    name,
    row,
  }))

const shown = (files: ReadonlyMap<string, number>): string =>
  [...files].map(([path, tests]) => `\`${path.slice("test/".length)}\`${tests === 1 ? "" : ` (${tests})`}`).join(", ")

/** Returns the page with the tests of each threat. */
export const written = (text: string): string => {
  const held = holders()
  return threats(text).reduce((page, { name, row }) => {
    const at = page.indexOf(row)
    const end = page.indexOf("\n", at)
    return `${page.slice(0, at)}${row} ${shown(held.get(name) ?? new Map())} |${page.slice(end)}`
  }, text)
}
