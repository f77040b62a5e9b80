import { posix } from "node:path"
import { bare, importsOf, paths, read, type Source } from "./source.ts"

const sources: ReadonlyArray<Source> = paths
  .filter((path) => /^(?:packages|apps)\/[^/]+\/src\/.*\.tsx?$/.test(path) && !path.endsWith(".d.ts"))
  .map(read)

/** The file that an import names; undefined for a library. */
const target = (path: string, specifier: string): string | undefined => {
  const ours = /^@waybill\/([a-z-]+)\/(.+)$/.exec(specifier)
  if (ours !== null) return `packages/${ours[1] ?? ""}/src/${ours[2] ?? ""}.ts`
  return specifier.startsWith(".") ? posix.join(posix.dirname(path), specifier) : undefined
}

const MIN_FILES = 3
const MAX_FILES = 15

/** Folders with too few or too many files of their own, each with its number. A folder of tests may hold one: it mirrors one of sources. */
export const oddFolders = (isHeld: (folder: string) => boolean): ReadonlyArray<string> => {
  const files = new Map<string, number>()
  for (const path of paths) {
    const folder = posix.dirname(path)
    if (isHeld(folder)) files.set(folder, (files.get(folder) ?? 0) + 1)
  }
  return [...files]
    .filter(([folder, count]) => count < (folder.startsWith("test/") ? 1 : MIN_FILES) || count > MAX_FILES)
    .map(([folder, count]) => `${folder} holds ${count} ${count === 1 ? "file" : "files"}`)
}

/** Each test of a package that has the name of a source file of it, but is in another folder than that file. */
export const testsElsewhere = (files: ReadonlyArray<string> = paths): ReadonlyArray<string> => {
  const folders = new Map<string, Array<string>>()
  for (const path of files) {
    const [, name, folder] = /^packages\/([^/]+)\/src(\/.+)?\/[^/]+$/u.exec(path) ?? []
    if (name === undefined) continue
    const test = `${name} ${posix.basename(path).split(".")[0]?.toLowerCase()}`
    folders.set(test, [...(folders.get(test) ?? []), `test/${name}${folder ?? ""}`])
  }
  return files.flatMap((path) => {
    const [, name, test] = /^test\/([^/]+)\/(?:.+\/)?([^/]+)\.test\.ts$/u.exec(path) ?? []
    const homes = folders.get(`${name} ${test?.toLowerCase()}`)
    return homes === undefined || homes.includes(posix.dirname(path))
      ? []
      : [`${path} belongs in ${homes.join(" or ")}`]
  })
}

/** Groups of files that import each other, directly or through others; imports of types count. */
export const cycles = (): ReadonlyArray<ReadonlyArray<string>> =>
  ringsOf(new Map(sources.map((source) => [source.path, targetsOf(source)])))

/** Groups of folders of a package that import each other. A folder and one inside it are two. */
export const folderRings = (files: ReadonlyArray<Source> = sources): ReadonlyArray<ReadonlyArray<string>> => {
  const known = new Set(files.map(({ path }) => path))
  const graph = new Map<string, Array<string>>()
  for (const source of files) {
    const from = posix.dirname(source.path)
    const to = targetsOf(source).flatMap((file) => (known.has(file) ? posix.dirname(file) : []))
    graph.set(from, [
      ...(graph.get(from) ?? []),
      ...to.filter((folder) => folder !== from && packageOf(folder) === packageOf(from)),
    ])
  }
  return ringsOf(graph)
}

const targetsOf = ({ path, text }: Source): ReadonlyArray<string> =>
  importsOf(text).flatMap(({ specifier }) => target(path, specifier) ?? [])

/** Tarjan's algorithm: a strongly connected component of more than one node is a ring. */
const ringsOf = (graph: ReadonlyMap<string, ReadonlyArray<string>>): ReadonlyArray<ReadonlyArray<string>> => {
  const order = new Map<string, number>()
  const stack: Array<string> = []
  const components: Array<ReadonlyArray<string>> = []
  const visit = (node: string): number => {
    const index = order.size
    order.set(node, index)
    stack.push(node)
    let lowest = index
    for (const next of graph.get(node) ?? []) {
      if (!graph.has(next)) continue
      if (!order.has(next)) lowest = Math.min(lowest, visit(next))
      else if (stack.includes(next)) lowest = Math.min(lowest, order.get(next) ?? lowest)
    }
    if (lowest === index) {
      const component = stack.splice(stack.indexOf(node))
      if (component.length > 1) components.push(component.toSorted())
    }
    return lowest
  }
  for (const node of graph.keys()) if (!order.has(node)) visit(node)
  return components
}

/**
 * The layer of each folder of a package, as `docs/architecture.md` lists them: the top one has the highest number. A small package
 * is one line, its layers apart by semicolons.
 */
const layersOf = (text: string): ReadonlyMap<string, number> => {
  const layers = new Map<string, number>()
  for (const [, root = "", list = ""] of text.matchAll(/^### `(.+)`\n\n((?:(?:- | {2}).*\n)+)/gmu))
    for (const [nth, line] of list
      .trim()
      .split(/\n(?=- )/u)
      .toReversed()
      .entries())
      for (const [, folder] of (line.split(":")[0] ?? "").matchAll(/`([^`]+)`/gu))
        layers.set(`${root}/src/${folder}`, nth)
  for (const [, root = "", line = ""] of text.matchAll(/^- `(packages\/[^`/]+)`: (.+)$/gmu))
    for (const [nth, layer] of line.split("; ").toReversed().entries())
      for (const [, folder = ""] of layer.matchAll(/`([^`]+)`/gu)) layers.set(`${root}/src/${folder}`, nth)
  return layers
}

/** The folder of a file that is a layer of its package; undefined for a file that is in none. */
const layerFolderOf = (path: string): string | undefined =>
  /^((?:packages|apps)\/[^/]+\/src\/[^/]+)\/./u.exec(path)?.[1]

/** Imports between folders of a package that do not lead down the list of its layers, and folders that it lacks. */
export const againstLayers = (text: string): ReadonlyArray<string> => {
  const layers = layersOf(text)
  const found = sources.flatMap(({ path, text }) => {
    const from = layerFolderOf(path)
    return importsOf(text).flatMap(({ specifier }) => {
      const file = target(path, specifier)
      const to = file === undefined ? undefined : layerFolderOf(file)
      if (from === undefined || to === undefined || from === to || packageOf(from) !== packageOf(to)) return []
      const [above, below] = [layers.get(from), layers.get(to)]
      if (above === undefined || below === undefined) return [`${above === undefined ? from : to} has no layer`]
      return above > below ? [] : [`${path} imports ${file}`]
    })
  })
  return [...new Set(found)]
}

const packageOf = (path: string): string => path.split("/").slice(0, 2).join("/")

interface NamedImport {
  readonly file: string
  readonly name: string
  readonly isType: boolean
}

/** Names that a file imports one by one from files of the repository. */
const namedImports = ({ path, text }: Source): ReadonlyArray<NamedImport> =>
  [...text.matchAll(/^import (type )?([^"]*?) from "([^"]+)"/gm)].flatMap(
    ([, typeOnly, clause = "", specifier = ""]) => {
      const file = target(path, specifier)
      if (file === undefined || !clause.includes("{")) return []
      return clause
        .replace(/^[^{]*\{|\}[^}]*$/g, "")
        .split(",")
        .map((item) => item.trim())
        .filter((item) => item !== "")
        .map((item) => ({
          file,
          name: item.replace(/^type /, "").split(" as ")[0] ?? item,
          isType: typeOnly !== undefined || item.startsWith("type "),
        }))
    },
  )

const imported = sources.flatMap(namedImports)

const exported = (code: string, kinds: string): ReadonlyArray<string> =>
  [...code.matchAll(new RegExp(`^export (?:declare |abstract |async )*(?:${kinds}) (\\w+)`, "gm"))].map(
    (match) => match[1] ?? "",
  )

/**
 * Files whose name does not say how they are imported. `PascalCase.ts` is a module imported as a namespace, or the file of
 * the class, service or type of that name; `camelCase.ts` exports one function of that name, besides its types and
 * constants. A `.tsx` file in PascalCase may export several components.
 */
export const misnamed = (): ReadonlyArray<string> => {
  const values = new Map<string, Set<string>>()
  for (const { file, isType, name } of imported) {
    if (!isType) values.set(file, (values.get(file) ?? new Set()).add(name))
  }
  return sources.flatMap(({ path, text }) => {
    const name = posix.basename(path).replace(/\.tsx?$/, "")
    const code = bare(text)
    if (/^[a-z]/.test(name)) {
      const others = exported(code, "const|let|function\\*?|class|enum").filter(
        (value) => value !== name && !/^[A-Z0-9_]+$/.test(value),
      )
      return others.length === 0 ? [] : [`${path} exports ${others.join(", ")}`]
    }
    if (path.endsWith(".tsx")) return []
    const isHome = exported(code, "const|class|type|interface|function").includes(name)
    const others = [...(values.get(path) ?? [])].filter((each) => !each.startsWith(name))
    return isHome || others.length === 0 ? [] : [`${path} is imported for ${others.join(", ")}`]
  })
}

const KEYED =
  /(?:class (\w+) extends |const (\w+)(?:: [^=]+)? = )Context\.(?:Service|Reference)(?:<[^]*?>)?(?:\(\))?\(\s*"([^"]*)"/gu

/** Services whose key is not the path of their file, followed by their name if the file has another one. */
export const wrongKeys = (files: ReadonlyArray<Source> = sources): ReadonlyArray<string> =>
  files.flatMap(({ path, text }) => {
    const file = path.replace(/^(?:packages|apps)\/([^/]+)\/src\/(.+)\.tsx?$/u, "@waybill/$1/$2")
    const keyed = [...text.matchAll(KEYED)].map(([, service, reference, key]) => ({ name: service ?? reference, key }))
    return keyed
      .filter(({ key, name }) => key !== (posix.basename(file) === name ? file : `${file}/${name}`))
      .map(({ key, name }) => `${path}: ${name} has the key ${key}`)
  })

const RIDDLE =
  /^(?:Who|Whoever|Whose|What|Of|As|For whom|For what|Before|Beside|Beyond|Nobody|Somebody|All that|Told|Said|Asked|By|On|The same|Likewise) /

/** Comments that begin with a pronoun or a particle instead of the thing they are about, each with its file. */
export const riddles = (): ReadonlyArray<string> =>
  sources.flatMap(({ path, text }) =>
    [...text.matchAll(/(?:\/\*\*\s*(?:\n\s*\*\s*)?|^\s*\/\/ )([A-Z][^\n]*)/gm)].flatMap(([, line = ""]) =>
      RIDDLE.test(line) && !/^As (?:soon|long) as/.test(line) ? [`${path}: ${line}`] : [],
    ),
  )

/** Words that once named things in the code; docs/concepts.md has the word for each. */
const RETIRED =
  /\b(?:[Ff]lights?|[Ll]edger|[Tt]ally|[Tt]allied|Pulse|[Hh]orizon|KeptStates?|Folded|Trouble|[Ss]endLane|once(?:At|Made|Sealed|With)|[Vv]ouched|heirs?|twins?|[Uu]nborn|[Ss]trangers?|[Aa]?stray|(?<!Layer\.)fresh)\b/

/** Names of files and lines of code that use a retired word. */
export const retired = (): ReadonlyArray<string> =>
  sources.flatMap(({ path, text }) => [
    ...(RETIRED.test(posix.basename(path).replace(/\.tsx?$/, "")) ? [path] : []),
    ...bare(text)
      .split("\n")
      .flatMap((line) => (RETIRED.test(line) ? [`${path}: ${line.trim()}`] : [])),
  ])

const texts = new Map(sources.map(({ path, text }) => [path, text]))

/** Names that each decider or module gives its own type; they are read behind the module's name. */
const PER_MODULE = new Set(["Event", "State"])

/** Types that go by the same bare name though they are declared in different files. */
export const sharedTypeNames = (): ReadonlyArray<string> => {
  const homes = new Map<string, Set<string>>()
  for (const { file, name } of imported) {
    const isType = new RegExp(`^export (?:type|interface|class) ${name}\\b`, "m").test(texts.get(file) ?? "")
    const isMirror = file.startsWith("packages/client/") || file.startsWith("apps/dashboard/")
    if (isType && !isMirror && !PER_MODULE.has(name)) homes.set(name, (homes.get(name) ?? new Set()).add(file))
  }
  return [...homes]
    .filter(([, files]) => files.size > 1)
    .map(([name, files]) => `${name}: ${[...files].toSorted().join(", ")}`)
}
