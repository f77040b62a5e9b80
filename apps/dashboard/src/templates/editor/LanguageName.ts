const names = new Intl.DisplayNames(undefined, { type: "language", fallback: "none" })

/** Returns the name of a language, such as “German”; undefined for a tag that no language has. */
export const of = (tag: string): string | undefined => {
  try {
    return names.of(tag)
  } catch {
    // It is no tag.
    return undefined
  }
}

/** The texts that a template has beside those of its languages. */
export const DEFAULT = "Default"

/** Returns how a language is called in a choice: its name and its tag. */
export const shown = (tag: string | null): string => {
  if (tag === null) return DEFAULT
  const name = of(tag)
  return name === undefined ? tag : `${name} (${tag})`
}
