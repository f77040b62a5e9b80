import * as Template from "@waybill/domain/template/Template"
import * as fs from "node:fs/promises"
import { join, relative } from "node:path"
import * as SourceFiles from "./SourceFiles.ts"
import { fail, FILES, type LocalTemplate, NO_WORDS, type LocalWords } from "./services/LocalTemplate.ts"
import * as TemplateYaml from "./TemplateYaml.ts"

export const SETTINGS = "template.yaml"
/** Bytes of one file. The service refuses parts that are much shorter. */
const MAX_FILE_BYTES = 1024 * 1024

const isMissing = (cause: unknown): boolean =>
  ["ENOENT", "ENOTDIR"].includes((cause as NodeJS.ErrnoException).code ?? "")

const entriesOf = async (folder: string) => {
  try {
    const entries = await fs.readdir(folder, { withFileTypes: true })
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (cause) {
    return isMissing(cause) ? undefined : fail(`${folder}: ${(cause as Error).message}`)
  }
}

/** Reads a file, as it is; `null` if there is none. */
export const readText = async (file: string): Promise<string | null> => {
  try {
    if ((await fs.stat(file)).size > MAX_FILE_BYTES) return fail(`${file}: is larger than ${MAX_FILE_BYTES} bytes`)
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await fs.readFile(file))
  } catch (cause) {
    if (isMissing(cause)) return null
    return fail(cause instanceof TypeError ? `${file}: is not UTF-8` : `${file}: ${(cause as Error).message}`)
  }
}

/** Files end with a line break, which is no part of the template. */
const endOf = (text: string): string => text.replace(/\n$/u, "")

/** The folders of templates in a folder, which may be one itself. */
export const foldersIn = async (root: string): Promise<ReadonlyArray<string>> => {
  const entries = await entriesOf(root)
  if (entries === undefined)
    return fail(`${root}: there is no such folder. \`waybill templates pull ${root}\` makes it.`)
  if (entries.some(({ name }) => name === SETTINGS)) return [root]
  const folders = entries.filter((entry) => !entry.name.startsWith(".") && entry.isDirectory())
  const found: Array<string> = []
  for (const { name } of folders) {
    const folder = join(root, name)
    if (await isTemplate(folder)) found.push(folder)
  }
  return found
}

/** Whether a folder is one of a template. */
export const isTemplate = async (folder: string): Promise<boolean> => (await readText(join(folder, SETTINGS))) !== null

/** Whether the template of a folder, if there is one, is published with the others. */
export const isPublished = async (folder: string): Promise<boolean> => {
  const file = join(folder, SETTINGS)
  const { publish = true } = await TemplateYaml.read(file, (await readText(file)) ?? "")
  return publish
}

interface Part {
  readonly folder: string
  readonly settings: TemplateYaml.Settings
}

const wordsIn = async ({ folder, settings }: Part, preheader: string | null): Promise<LocalWords> => {
  const words: Record<string, string | null> = { ...NO_WORDS, preheader }
  for (const name of FILES) {
    const sources = [`${name}.liquid`, ...SourceFiles.SOURCES.map((ending) => `${name}${ending}`)].map((file) =>
      join(folder, file),
    )
    const texts = await Promise.all(sources.map(readText))
    const given = sources.filter((_, nth) => texts[nth] !== null)
    const [file = "", other] = given
    if (other !== undefined) return fail(`${file} and ${other} are the same part; keep one of them`)
    const text = texts.find((each) => each !== null) ?? null
    words[name] =
      text === null
        ? null
        : SourceFiles.isCompiled(file)
          ? await SourceFiles.compile(file, text, settings.variables)
          : endOf(text)
  }
  return words as unknown as LocalWords
}

/** Files of parts, whether they are written or compiled. */
const PARTS: ReadonlySet<string> = new Set(
  FILES.flatMap((name) => [".liquid", ...SourceFiles.SOURCES].map((ending) => `${name}${ending}`)),
)

/** Returns the languages that have a part in the folder of a template. Other folders have names like theirs: `src`, `img`. */
const languagesIn = async (folder: string): Promise<ReadonlyArray<string>> => {
  const languages: Array<string> = []
  for (const entry of (await entriesOf(folder)) ?? []) {
    if (!entry.isDirectory() || !Template.isLocale(entry.name)) continue
    const files = (await entriesOf(join(folder, entry.name))) ?? []
    if (files.some(({ name }) => PARTS.has(name))) languages.push(entry.name)
  }
  return languages
}

/** Reads a template of its folder, and compiles what is not written in Liquid. */
export const read = async (folder: string): Promise<LocalTemplate> => {
  const file = join(folder, SETTINGS)
  const settings = await TemplateYaml.read(file, (await readText(file)) ?? "")
  const { alias = folderName(folder), language, layout = null, locales, name = alias, variables = null } = settings
  if (!Template.ALIAS.test(alias))
    return fail(`${file}: alias ${JSON.stringify(alias)} must begin with a letter and have letters, digits, -, _ and .`)
  const languages: Record<string, LocalWords> = {}
  for (const tag of new Set([...Object.keys(locales ?? {}), ...(await languagesIn(folder))])) {
    if (!Template.isLocale(tag)) return fail(`${file}: ${JSON.stringify(tag)} is no language, such as de or pt-BR`)
    const preheader = locales?.[tag]?.preheader ?? null
    languages[tag] = await wordsIn({ folder: join(folder, tag), settings }, preheader)
  }
  const replies = settings.reply_to ?? []
  return {
    alias,
    kind: settings.kind ?? "template",
    name,
    description: settings.description ?? null,
    from: settings.from ?? null,
    reply_to: typeof replies === "string" ? [replies] : replies,
    ...(language === undefined ? {} : { language }),
    layout,
    ...(await wordsIn({ folder, settings }, settings.preheader ?? null)),
    locales: languages,
    variables,
    publish: settings.publish ?? true,
  }
}

const folderName = (folder: string): string => relative(join(folder, ".."), folder)

/** Reads all templates of a folder. */
export const readAll = async (root: string): Promise<ReadonlyArray<LocalTemplate>> => {
  const templates: Array<LocalTemplate> = []
  const folders = new Map<string, string>()
  for (const folder of await foldersIn(root)) {
    const template = await read(folder)
    const other = folders.get(template.alias)
    if (other !== undefined) return fail(`${other} and ${folder} have the same alias, ${template.alias}`)
    folders.set(template.alias, folder)
    templates.push(template)
  }
  return templates.length === 0
    ? fail(
        `${root}: no folder in it has a ${SETTINGS}. \`waybill templates pull ${root}\` writes those of the account.`,
      )
    : templates
}

/** Names that Windows keeps for devices. */
const DEVICES = /^(?:aux|con|nul|prn|com\d|lpt\d)(?:\.|$)/iu

/** Returns folders for templates by alias: those that they have, or new ones, which differ also where case does not count. */
export const placesOf = async (root: string, aliases: ReadonlyArray<string>): Promise<ReadonlyMap<string, string>> => {
  const places = new Map<string, string>()
  const taken = new Set<string>()
  const entries = await entriesOf(root)
  if (entries?.some(({ name }) => name === SETTINGS) === true)
    return fail(`${root}: is a template itself. Name the folder around it.`)
  if (entries !== undefined)
    for (const folder of await foldersIn(root)) {
      const file = join(folder, SETTINGS)
      const { alias = folderName(folder) } = await TemplateYaml.read(file, (await readText(file)) ?? "")
      places.set(alias, folder)
      taken.add(folderName(folder).toLowerCase())
    }
  for (const alias of aliases) {
    if (!Template.ALIAS.test(alias)) return fail(`${JSON.stringify(alias)} is no alias`)
    if (places.has(alias)) continue
    const plain = DEVICES.test(alias) || alias.endsWith(".") ? `${alias}_` : alias
    let name = plain
    for (let nth = 2; taken.has(name.toLowerCase()); nth++) name = `${plain}_${nth}`
    taken.add(name.toLowerCase())
    places.set(alias, join(root, name))
  }
  return places
}

const writeWords = async (folder: string, words: LocalWords): Promise<ReadonlyArray<string>> => {
  const kept: Array<string> = []
  for (const name of FILES) {
    const sources = SourceFiles.SOURCES.map((ending) => join(folder, `${name}${ending}`))
    const texts = await Promise.all(sources.map(readText))
    const source = sources.find((_, nth) => texts[nth] !== null)
    const file = join(folder, `${name}.liquid`)
    const text = words[name]
    if (source !== undefined) kept.push(source)
    if (text === null || source !== undefined) await fs.rm(file, { force: true })
    else {
      await fs.mkdir(folder, { recursive: true })
      await fs.writeFile(file, `${text}\n`)
    }
  }
  return kept
}

/** Writes a template to its folder. Returns the sources that it leaves as they are, because they are compiled. */
export const write = async (
  folder: string,
  template: LocalTemplate,
  notes: ReadonlyArray<string> = [],
): Promise<ReadonlyArray<string>> => {
  await fs.mkdir(folder, { recursive: true })
  const former = await languagesIn(folder)
  await fs.writeFile(join(folder, SETTINGS), await TemplateYaml.write(template, notes))
  const kept = [...(await writeWords(folder, template))]
  for (const tag of new Set([...former, ...Object.keys(template.locales)])) {
    if (!Template.isLocale(tag)) return fail(`${JSON.stringify(tag)} is no language`)
    const inner = join(folder, tag)
    kept.push(...(await writeWords(inner, template.locales[tag] ?? NO_WORDS)))
    // A folder without files would be a language again.
    await fs.rmdir(inner).catch(() => {})
  }
  return kept
}
