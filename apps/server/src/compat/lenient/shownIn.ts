/** References to files that are looked at in an HTML. A message has at most 20 files. */
const MAX_REFERENCES = 1_000
const MAX_ID_CHARS = 200
const SCHEME = "cid:"

/** Returns whether an HTML shows a file by its id. */
export const shownIn = (html: string): ((id: string) => boolean) => {
  const found: Array<string> = []
  for (let at = html.indexOf(SCHEME); at >= 0 && found.length < MAX_REFERENCES; at = html.indexOf(SCHEME, at)) {
    at += SCHEME.length
    found.push(html.slice(at, at + MAX_ID_CHARS))
  }
  return (id) => found.some((each) => each.startsWith(id))
}
