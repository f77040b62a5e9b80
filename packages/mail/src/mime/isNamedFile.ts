interface Structured {
  /** In lower case. */
  readonly value: string
  readonly params: { readonly [name: string]: string | undefined }
}

interface TextNode {
  readonly contentType: { readonly multipart: string | false; readonly parsed: Structured }
  readonly contentDisposition: { readonly parsed: Structured }
  readonly parentNode?: TextNode | undefined
  readonly childNodes: ReadonlyArray<unknown>
}

/** Whether a text is a file: by its disposition, or by a name in a place where bodies have none. */
export const isNamedFile = (node: TextNode): boolean => {
  const { params, value } = node.contentDisposition.parsed
  if (value === "attachment") return true
  const siblings = node.parentNode
  // One form of the text among others, and the root of a compound body, are bodies whatever their name.
  if (siblings?.contentType.multipart === "alternative") return false
  const isFirst = siblings === undefined || siblings.childNodes[0] === node
  if (siblings?.contentType.multipart === "related" && isFirst) return false
  // Old programs name files in Content-Type only, and some of them their texts too.
  return Boolean(params["filename"]) || (Boolean(node.contentType.parsed.params["name"]) && !isFirst)
}
