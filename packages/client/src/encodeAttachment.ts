import type * as T from "./types.ts"
import { WaybillError } from "./WaybillError.ts"

interface FileOptions {
  /** Derived from the file name if absent */
  readonly content_type?: string | null
  /** Embeds the file in the HTML, which refers to it as `cid:…` */
  readonly content_id?: string | null
}

/** An attachment as base64, bytes, a `Blob`, a `File` or the path of a file on this machine. */
export type AttachmentInput = FileOptions &
  (
    | {
        readonly filename: string
        /** A string is base64. */
        readonly content: string | Uint8Array | ArrayBuffer | Blob
        readonly path?: never
      }
    | { readonly filename?: string; readonly content: File; readonly path?: never }
    | {
        readonly filename?: string
        /** Path or `file:` URL. Never take it from a request: it could name any file of this machine. */
        readonly path: string | URL
        readonly content?: never
      }
  )

/** Returns an attachment as the API takes it. `at` is its path in the request. */
export const encodeAttachment = async (file: AttachmentInput, at: string): Promise<T.Attachment> => {
  const { content, filename, path, ...options } = file
  if (path !== undefined && content !== undefined) {
    throw WaybillError.invalid(`${at}.path`, `cannot be combined with \`${at}.content\``)
  }
  if (path !== undefined) {
    const { bytes, name } = await readFileAt(path, `${at}.path`)
    return { ...options, filename: filename ?? name, content: bytes.toString("base64") }
  }
  const name = filename ?? nameOf(content, `${at}.filename`)
  if (typeof content === "string") return { ...options, filename: name, content }
  const type = content instanceof Blob && content.type !== "" ? { content_type: content.type } : {}
  const bytes = content instanceof Blob ? Buffer.from(await content.arrayBuffer()) : bytesOf(content, `${at}.content`)
  return { ...type, ...options, filename: name, content: bytes.toString("base64") }
}

/** Returns the bytes without a copy. A view may be on a part of a larger buffer. */
const bytesOf = (content: Uint8Array | ArrayBuffer, path: string): Buffer => {
  if (ArrayBuffer.isView(content)) return Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  if (Object.prototype.toString.call(content) === "[object ArrayBuffer]") return Buffer.from(content)
  throw WaybillError.invalid(path, "takes base64, a Buffer, Uint8Array, ArrayBuffer, Blob or File")
}

const nameOf = (content: object | string, path: string): string => {
  if (typeof content === "object" && "name" in content && typeof content.name === "string") return content.name
  throw WaybillError.invalid(path, "is missing; only a File and a path have a name")
}

/** Reads a file. Loads the modules of Node only when they are needed, because other runtimes may have none. */
const readFileAt = async (
  file: string | URL,
  path: string,
): Promise<{ readonly bytes: Buffer; readonly name: string }> => {
  const url = String(file)
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(url) && !url.startsWith("file:")) {
    throw WaybillError.invalid(path, "is a file on this machine; download the URL and give its bytes as `content`")
  }
  try {
    const [{ readFile }, { basename }, { fileURLToPath }] = await Promise.all([
      import("node:fs/promises"),
      import("node:path"),
      import("node:url"),
    ])
    const name = url.startsWith("file:") ? fileURLToPath(url) : url
    return { bytes: await readFile(name), name: basename(name) }
  } catch (cause) {
    throw WaybillError.invalid(path, `cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, cause)
  }
}
