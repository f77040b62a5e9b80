const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c

/**
 * Splits a comma-separated list of mailboxes. A comma in a quoted name separates nothing. A list of more than
 * `most` mailboxes is refused by their number, so what follows these is left as one.
 */
export const split = (list: string, most: number): ReadonlyArray<string> => {
  const parts: Array<string> = []
  const add = (part: string) => {
    const mailbox = part.trim()
    if (mailbox !== "") parts.push(mailbox)
  }
  let quoted = false
  let start = 0
  for (let at = 0; at < list.length && parts.length <= most; at++) {
    const char = list.charCodeAt(at)
    if (char === QUOTE) quoted = !quoted
    else if (char === BACKSLASH && quoted) at++
    else if (char === COMMA && !quoted) {
      add(list.slice(start, at))
      start = at + 1
    }
  }
  add(list.slice(start))
  return parts
}
