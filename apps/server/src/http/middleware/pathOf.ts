/** Returns the path of a request as the router reads it, so that an encoded spelling counts in the same rate window. */
export const pathOf = (url: string): string => {
  const path = url.replace(AUTHORITY, "/").split(/[?#;]/u, 1)[0] ?? url
  if (!path.includes("%")) return path
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

/** Scheme and host of an absolute target that URL parsers reject (`http://[/v1`); the router ignores them too. */
const AUTHORITY = /^https?:\/\/.*?\//u
