import * as Table from "@waybill/domain/values/Table"
import { randomBytes } from "node:crypto"
import * as fs from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { fail } from "./services/LocalTemplate.ts"

// The packages are those that the caller has installed for their templates. Waybill brings none of them, and nothing of this
// runs in the service.

/** Endings of sources that become HTML on this machine. */
export const SOURCES = [".tsx", ".jsx", ".mjml"] as const

export const isCompiled = (file: string): boolean => SOURCES.some((ending) => file.endsWith(ending))

type Variables = Readonly<Record<string, unknown>> | null | undefined

/** Compiles a source to HTML with Liquid in it. */
export const compile = async (file: string, text: string, variables: Variables): Promise<string> =>
  inLiquid(file.endsWith(".mjml") ? await mjml(file, text) : await react(file, variables))

/** Loads a package of the folder of a file. */
const load = async (file: string, name: string, install: string): Promise<Readonly<Record<string, unknown>>> => {
  const require = createRequire(resolve(file))
  let path: string
  try {
    path = require.resolve(name)
  } catch {
    return fail(`${file} needs the package ${name}. Run: npm install --save-dev ${install}`)
  }
  try {
    const loaded = (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>
    const inner = loaded["default"]
    return typeof inner === "object" && inner !== null ? { ...inner, ...loaded } : loaded
  } catch (cause) {
    return fail(`${file}: the package ${name} cannot be loaded: ${messageOf(cause)}`)
  }
}

interface MjmlOutput {
  readonly html: string
  readonly errors?: ReadonlyArray<{ readonly formattedMessage?: string; readonly message?: string }>
}

const mjml = async (file: string, text: string): Promise<string> => {
  const loaded = await load(file, "mjml", "mjml")
  const convert = loaded["default"] as (source: string, options: object) => MjmlOutput | Promise<MjmlOutput>
  const { errors = [], html } = await tried(file, async () =>
    convert(text, { filePath: resolve(file), validationLevel: "soft" }),
  )
  const [error] = errors
  return error === undefined ? html : fail(`${file}: ${error.formattedMessage ?? error.message ?? "is not MJML"}`)
}

const REACT = "react react-dom @react-email/components esbuild"

interface Esbuild {
  readonly build: (options: object) => Promise<{ readonly outputFiles: ReadonlyArray<{ readonly text: string }> }>
}

/** Bundles the file with what it imports from the folder, runs it beside the file, and renders the component that it exports. */
const react = async (file: string, variables: Variables): Promise<string> => {
  const { build } = (await load(file, "esbuild", REACT)) as unknown as Esbuild
  const { createElement } = (await load(file, "react", REACT)) as {
    readonly createElement: (component: unknown, props: unknown) => unknown
  }
  const { render } = (await renderer(file)) as { readonly render: (element: unknown) => string | Promise<string> }
  return tried(file, async () => {
    const { outputFiles } = await build({
      entryPoints: [resolve(file)],
      bundle: true,
      write: false,
      format: "esm",
      platform: "node",
      packages: "external",
      jsx: "automatic",
      logLevel: "silent",
    })
    const component = (await runBeside(file, outputFiles[0]?.text ?? ""))["default"]
    if (typeof component !== "function") return fail(`${file}: must export a component by default`)
    return render(createElement(component, placeholdersOf(variables ?? {}, "")))
  })
}

const renderer = async (file: string) => {
  const require = createRequire(resolve(file))
  const name = ["@react-email/render", "@react-email/components", "react-email"].find((each) => {
    try {
      return require.resolve(each) !== ""
    } catch {
      return false
    }
  })
  return load(file, name ?? "@react-email/components", REACT)
}

/** Imports a module from a file beside another, so that it finds the same packages. */
const runBeside = async (file: string, text: string): Promise<Readonly<Record<string, unknown>>> => {
  const module = join(dirname(resolve(file)), `.waybill-${randomBytes(8).toString("hex")}.mjs`)
  await fs.writeFile(module, text, { flag: "wx" })
  try {
    return (await import(pathToFileURL(module).href)) as Readonly<Record<string, unknown>>
  } finally {
    await fs.rm(module, { force: true })
  }
}

/** Returns the properties of a component: for each variable of the schema the output that writes it. Lists are left out. */
export const placeholdersOf = (schema: Readonly<Record<string, unknown>>, path: string): Record<string, unknown> => {
  const properties = (schema["properties"] ?? {}) as Readonly<Record<string, Readonly<Record<string, unknown>>>>
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, inner]) => {
      const own = path === "" ? name : `${path}.${name}`
      if (inner["type"] === "array") return []
      return [[name, inner["properties"] === undefined ? `{{ ${own} }}` : placeholdersOf(inner, own)]]
    }),
  )
}

const tried = async <A>(file: string, use: () => Promise<A>): Promise<A> => {
  try {
    return await use()
  } catch (cause) {
    return fail(messageOf(cause).startsWith(file) ? messageOf(cause) : `${file}: ${messageOf(cause)}`)
  }
}

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

const ENTITIES: Readonly<Record<string, string>> = {
  "&quot;": '"',
  "&#34;": '"',
  "&#x27;": "'",
  "&#39;": "'",
  "&lt;": "<",
  "&gt;": ">",
  "&amp;": "&",
}

/** Quotes and signs in Liquid are its own, and not those of HTML. */
const inLiquid = (html: string): string =>
  html.replaceAll(/\{\{[^]*?\}\}|\{%[^]*?%\}/gu, (piece) =>
    piece.replaceAll(/&(?:quot|lt|gt|amp|#x27|#39|#34);/gu, (entity) => Table.at(ENTITIES, entity) ?? entity),
  )
