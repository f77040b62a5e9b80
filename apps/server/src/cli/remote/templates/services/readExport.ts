import * as fs from "node:fs/promises"
import { basename, join } from "node:path"
import { fail } from "./LocalTemplate.ts"
import { isObject, type Json, listOf } from "./ServiceTemplate.ts"

/** Levels of folders of an export. */
const MAX_DEPTH = 4
/** Bytes of an export's file. */
const MAX_EXPORT_BYTES = 64 * 1024 * 1024

/** Reads templates from a file or a folder: answers of the service's API as JSON, or what `postmark templates pull` writes. */
export const readExport = async (path: string, depth = 0): Promise<ReadonlyArray<Json>> => {
  try {
    const found = await fs.stat(path)
    if (!found.isDirectory()) return found.size > MAX_EXPORT_BYTES ? fail(`${path} is too large`) : inJson(path)
  } catch (cause) {
    if (cause instanceof Error && "_tag" in cause) throw cause
    return fail(`${path}: there is no such file or folder`)
  }
  const entries = (await fs.readdir(path, { withFileTypes: true })).filter(({ name }) => !name.startsWith("."))
  entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  if (entries.some(({ name }) => name === "meta.json")) return [await inPostmarkFolder(path)]
  const templates: Array<Json> = []
  for (const entry of entries) {
    const inner = join(path, entry.name)
    if (entry.isDirectory() && depth < MAX_DEPTH) templates.push(...(await readExport(inner, depth + 1)))
    else if (entry.isFile() && entry.name.endsWith(".json")) templates.push(...(await inJson(inner)))
  }
  return templates
}

const inJson = async (file: string): Promise<ReadonlyArray<Json>> => {
  let json: unknown
  try {
    json = JSON.parse(await fs.readFile(file, "utf8"))
  } catch (cause) {
    return fail(`${file}: is not JSON: ${(cause as Error).message}`)
  }
  if (Array.isArray(json)) return listOf(json)
  if (!isObject(json)) return fail(`${file}: has no templates`)
  const list = ["data", "Templates", "result", "templates"].find((name) => Array.isArray(json[name]))
  return list === undefined ? [json] : listOf(json[list])
}

const inPostmarkFolder = async (folder: string): Promise<Json> => {
  const read = (name: string) => fs.readFile(join(folder, name), "utf8").catch(() => null)
  const [meta = {}] = await inJson(join(folder, "meta.json"))
  return {
    Alias: basename(folder),
    ...meta,
    HtmlBody: await read("content.html"),
    TextBody: await read("content.txt"),
  }
}
