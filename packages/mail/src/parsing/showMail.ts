import * as MimeReader from "../mime/MimeReader.ts"

export interface Input {
  readonly bytes: Uint8Array
  /** Further fields of the response. */
  readonly record: object
}

/**
 * Returns a mail as the JSON of a response, as a mail program shows it; writing that of a large mail takes longer than
 * reading it. Undefined when its parts or headers exceed the limits.
 */
export const showMail = async ({ bytes, record }: Input): Promise<Uint8Array | undefined> => {
  const mail = await MimeReader.read(bytes).catch(() => undefined)
  if (mail === undefined) return undefined
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64")
  return Buffer.from(JSON.stringify({ ...record, ...partsOf(mail), raw }))
}

const partsOf = ({ attachments, headers, html, text }: MimeReader.ParsedMail) => ({
  headers: headers.map(({ key, value }) => ({ name: key, value })),
  html: html ?? null,
  text: text ?? null,
  attachments: attachments.map(({ content, contentId, filename, mimeType }) => {
    const file = typeof content === "string" ? Buffer.from(content) : Buffer.from(new Uint8Array(content))
    return {
      filename,
      content_type: mimeType,
      content_id: contentId?.replace(/^<|>$/gu, "") ?? null,
      size_bytes: file.length,
      content: file.toString("base64"),
    }
  }),
})
