/** The numbers of a version, and its pre-release identifiers. */
type Version = readonly [numbers: ReadonlyArray<number>, pre: ReadonlyArray<string>]

const parse = (text: string): Version | undefined => {
  const match = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([\w.-]+))?(?:\+[\w.-]+)?$/u.exec(text)
  if (match === null) return undefined
  const [, major, minor = "0", patch = "0", pre] = match
  return [[Number(major), Number(minor), Number(patch)], pre === undefined ? [] : pre.split(".")]
}

/** Compares by Semantic Versioning §11. */
const compare = ([a, aPre]: Version, [b, bPre]: Version): number => {
  for (const [i, number] of a.entries()) if (number !== b[i]) return number - (b[i] ?? 0)
  if (aPre.length === 0 || bPre.length === 0) return bPre.length - aPre.length
  for (const [i, part] of aPre.entries()) {
    const other = bPre[i]
    if (other === undefined) return 1
    if (part === other) continue
    const [isNumber, isOtherNumber] = [/^\d+$/u.test(part), /^\d+$/u.test(other)]
    if (isNumber !== isOtherNumber) return isNumber ? -1 : 1
    return isNumber ? Number(part) - Number(other) : part < other ? -1 : 1
  }
  return aPre.length - bPre.length
}

const HOLDS: Readonly<Record<string, (order: number) => boolean>> = {
  "": (order) => order === 0,
  "=": (order) => order === 0,
  "<": (order) => order < 0,
  "<=": (order) => order <= 0,
  ">": (order) => order > 0,
  ">=": (order) => order >= 0,
}

/**
 * Whether an advisory's range (`>=1.0.0 <1.4.2 || 2.0.0`) contains a version, including pre-releases. A range in an
 * unknown syntax contains every version, so that no advisory is missed.
 */
export const inRange = (version: string, range: string): boolean => {
  const mine = parse(version)
  if (mine === undefined) return true
  return range.split("||").some((part) =>
    part
      .trim()
      .replaceAll(/([<>]=?|=)\s+/gu, "$1")
      .split(/\s+/u)
      .every((comparator) => {
        const [, sign = "", bound = ""] = /^([<>]=?|=|)(.*)$/u.exec(comparator) ?? []
        const other = parse(bound)
        return other === undefined || (HOLDS[sign]?.(compare(mine, other)) ?? true)
      }),
  )
}
