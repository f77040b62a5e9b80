import type { Part } from "./MimeTree.ts"

/** Whether a text is a file: by its disposition, or by a name in a place where bodies have none. */
export const isNamedFile = ({ disposition, parent, type }: Part, isFirst: boolean): boolean => {
  if (disposition.value === "attachment") return true
  // One form of the text among others, and the root of a compound body, are bodies whatever their name.
  if (parent?.multipart === "alternative") return false
  if (parent?.multipart === "related" && isFirst) return false
  // Old programs name files in Content-Type only, and some of them their texts too.
  return Boolean(disposition.params.get("filename")) || (Boolean(type.params.get("name")) && !isFirst)
}
