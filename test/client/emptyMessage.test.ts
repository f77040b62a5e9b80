import { createRequire } from "node:module"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { rm } from "node:fs/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Packed, packPackage } from "../support/process/packPackage.ts"

const MODULES = fileURLToPath(new URL("../../node_modules/", import.meta.url))
/** Deprecation of a call's overload, as editors strike it through. */
const DEPRECATED_SIGNATURE = 6387

interface Diagnostic {
  readonly code: number
  readonly start?: number
  readonly messageText: unknown
}
interface TypeScript {
  readonly createLanguageService: (host: object) => {
    readonly getSuggestionDiagnostics: (file: string) => ReadonlyArray<Diagnostic>
    readonly getSemanticDiagnostics: (file: string) => ReadonlyArray<Diagnostic>
  }
  readonly ScriptSnapshot: { readonly fromString: (text: string) => unknown }
  readonly sys: { readonly readFile: (file: string) => string | undefined }
  readonly getDefaultLibFilePath: (options: object) => string
}

/** TypeScript 5, which arethetypeswrong brings: the native compiler has no language service for JavaScript. */
const ts = createRequire(join(MODULES, "@arethetypeswrong", "core", "package.json"))("typescript") as TypeScript

let packed: Packed
let service: ReturnType<TypeScript["createLanguageService"]>
/** The program that the editor shows, and how often it was changed. */
const edited = { text: "", version: 0 }
const fileOf = ({ project }: Packed) => join(project, "empty.ts")

beforeAll(async () => {
  packed = await packPackage("client")
  const options = { strict: true, target: 9, module: 199, moduleResolution: 99, noEmit: true }
  // One for all calls, as an editor has it: reading the libraries takes half a second of processor time.
  service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => [fileOf(packed)],
    getScriptVersion: (name: string) => String(name === fileOf(packed) ? edited.version : 0),
    getScriptSnapshot: (name: string) => {
      const text = name === fileOf(packed) ? edited.text : ts.sys.readFile(name)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getCurrentDirectory: () => packed.project,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    ...Object.fromEntries(
      ["fileExists", "readFile", "readDirectory", "directoryExists", "getDirectories"].map((name) => [
        name,
        (ts.sys as unknown as Record<string, unknown>)[name],
      ]),
    ),
  })
}, 120_000)
afterAll(() => rm(packed.folder, { recursive: true, force: true }))

/** Returns what an editor shows for a call: the codes of its errors, and whether it is struck through. */
const shown = (call: string) => {
  edited.version++
  edited.text = `import { Waybill, type MessageInput } from "@waybill/client"
    declare const waybill: Waybill; declare const message: MessageInput
    const base = { from: "a@acme.test", to: "b@example.org", subject: "Hi" } as const
    ${call}`
  return {
    errors: service.getSemanticDiagnostics(fileOf(packed)).map(({ code }) => code),
    isStruckThrough: service.getSuggestionDiagnostics(fileOf(packed)).some(({ code }) => code === DEPRECATED_SIGNATURE),
  }
}

describe("a message without a body, in an editor", () => {
  it("is struck through, and compiles", () => {
    for (const call of [
      "void waybill.emails.send(base)",
      "void waybill.emails.send({ ...base, tags: ['a'] })",
      "void waybill.emails.send({ ...base, html: null })",
      "void waybill.safe.emails.send(base)",
      "void waybill.emails.sendBatch([{ ...base, text: 'Hi' }, base])",
      "void waybill.safe.emails.sendBatch([base], { mode: 'permissive' })",
    ])
      assert.deepStrictEqual(shown(call), { errors: [], isStruckThrough: true }, call)
  }, 60_000)

  it("is not confused with one that has a body, or may have one", () => {
    for (const call of [
      "void waybill.emails.send({ ...base, html: '<p>Hi</p>' })",
      "void waybill.emails.send({ ...base, text: 'Hi', html: null })",
      "void waybill.emails.send({ ...base, react: { type: 'p', props: {}, key: null } })",
      "void waybill.emails.send(message)",
      "void waybill.emails.sendBatch([message, { ...base, text: 'Hi' }])",
      "void waybill.safe.emails.send(message)",
      "void waybill.safe.emails.send({ ...base, text: 'Hi' }).then(({ data }) => data?.id.length)",
      "void waybill.safe.emails.sendBatch([message]).then(({ data }) => data?.data.length)",
      "void waybill.safe.emails.resend('x').then(({ error }) => error?.reason)",
    ])
      assert.deepStrictEqual(shown(call), { errors: [], isStruckThrough: false }, call)
  }, 60_000)
})
