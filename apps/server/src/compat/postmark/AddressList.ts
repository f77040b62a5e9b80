/** Splits a comma-separated list of mailboxes. A comma in a quoted name separates nothing. */
export const split = (list: string): ReadonlyArray<string> => {
  const parts = [""]
  let quoted = false
  for (let at = 0; at < list.length; at++) {
    const char = list.charAt(at)
    if (char === '"') quoted = !quoted
    if (char === "," && !quoted) {
      parts.push("")
      continue
    }
    const escaped = quoted && char === "\\" ? list.charAt(++at) : ""
    parts[parts.length - 1] += char + escaped
  }
  return parts.map((part) => part.trim()).filter((part) => part !== "")
}
