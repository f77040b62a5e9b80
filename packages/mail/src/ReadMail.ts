import { Effect } from "effect"
import PostalMime from "postal-mime"

/** Nesting beyond this is nobody's mail. */
export const READ_DEPTH_LIMIT = 20
export const READ_HEADERS_LIMIT = 256 * 1024

/** A mail as a mail program reads it. */
export const read = (bytes: Uint8Array) =>
  Effect.map(
    Effect.promise(() =>
      PostalMime.parse(bytes, {
        maxNestingDepth: READ_DEPTH_LIMIT,
        maxHeadersSize: READ_HEADERS_LIMIT,
        attachmentEncoding: "base64",
      }),
    ),
    ({ attachments, headers, html, text }) => ({
      headers: headers.map(({ key, value }) => ({ name: key, value })),
      html: html ?? null,
      text: text ?? null,
      attachments: attachments.map(({ content, contentId, filename, mimeType }) => {
        const base64 = typeof content === "string" ? content : Buffer.from(content as Uint8Array).toString("base64")
        return {
          filename,
          content_type: mimeType,
          content_id: contentId?.replace(/^<|>$/g, "") ?? null,
          size_bytes: Buffer.byteLength(base64, "base64"),
          content: base64,
        }
      }),
    }),
  )
