import * as MimeReader from "./MimeReader.ts"

export interface Attachment {
  readonly filename: string | null
  readonly content_type: string
  readonly content_id: string | null
  readonly size_bytes: number
  /** In base64. */
  readonly content: string
}

export interface Mail {
  readonly headers: ReadonlyArray<{ readonly name: string; readonly value: string }>
  readonly html: string | null
  readonly text: string | null
  readonly attachments: ReadonlyArray<Attachment>
}

/** A mail as a mail program reads it; undefined where its parts or headers are beyond the limits. */
export const readMail = async (bytes: Uint8Array): Promise<Mail | undefined> => {
  const mail = await MimeReader.read(bytes).catch(() => undefined)
  if (mail === undefined) return undefined
  return {
    headers: mail.headers.map(({ key, value }) => ({ name: key, value })),
    html: mail.html ?? null,
    text: mail.text ?? null,
    attachments: mail.attachments.map(({ content, contentId, filename, mimeType }) => {
      const file = typeof content === "string" ? Buffer.from(content) : Buffer.from(new Uint8Array(content))
      return {
        filename,
        content_type: mimeType,
        content_id: contentId?.replace(/^<|>$/g, "") ?? null,
        size_bytes: file.length,
        content: file.toString("base64"),
      }
    }),
  }
}
