import { valueOr } from "@waybill/runtime/flow/valueOr"
import type * as MimeReader from "../mime/MimeReader.ts"

/** Maximum characters that images add to an HTML: a mail may name one of its images any number of times. */
export const MAX_IMAGE_CHARS = 8 * 1024 * 1024

/** Returns the HTML of a mail with its images as `data:` URLs in place of `cid:`, as far as they fit; null without one. */
export const withImages = ({ files, html }: MimeReader.Mail): string | null => {
  if (html === undefined) return null
  const images = new Map(
    files.flatMap((file) => {
      const id = file.contentId?.trim().replace(/^<|>$/gu, "") ?? ""
      return id !== "" && IMAGE.test(file.mimeType) ? [[id, file] as const] : []
    }),
  )
  if (images.size === 0) return html
  let left = MAX_IMAGE_CHARS
  return html.replaceAll(/\bcid:([^\s"'<>()]{1,320})/giu, (whole, id: string) => {
    const file = images.get(decoded(id))
    const chars = Math.ceil(((file?.content.length ?? 0) * 4) / 3)
    if (file === undefined || chars > left) return whole
    left -= chars
    const { buffer, byteLength, byteOffset } = file.content
    return `data:${file.mimeType};base64,${Buffer.from(buffer, byteOffset, byteLength).toString("base64")}`
  })
}

const IMAGE = /^image\/[\w.+-]+$/u

/** A Content-ID in a URL may be percent-encoded (RFC 2392). */
const decoded = (id: string): string => valueOr(() => decodeURIComponent(id), id)
