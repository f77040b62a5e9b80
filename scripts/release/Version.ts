const FORM = /^(\d+)\.(\d+)\.(\d+)(?:-(alpha|beta|rc)\.(\d+))?$/u
/** Short words of PEP 440 for what comes before a release. */
const PYTHON = { alpha: "a", beta: "b", rc: "rc" } as const

/** A version such as 1.2.0 or 1.2.0-rc.1; other forms of Semantic Versioning are not used here. */
export interface Version {
  readonly text: string
  /** The same version as Python, and as Ruby, spells it. */
  readonly python: string
  readonly ruby: string
  readonly isPrerelease: boolean
  readonly parts: ReadonlyArray<number>
}

export const parse = (text: string): Version | undefined => {
  const match = FORM.exec(text)
  if (match === null) return undefined
  const [, major = "", minor = "", patch = "", stage, nth = ""] = match
  const release = `${major}.${minor}.${patch}`
  const isPrerelease = stage !== undefined
  const rank = isPrerelease ? Object.keys(PYTHON).indexOf(stage) : Object.keys(PYTHON).length
  return {
    text,
    python: isPrerelease ? `${release}${PYTHON[stage as keyof typeof PYTHON]}${nth}` : release,
    ruby: isPrerelease ? `${release}.${stage}.${nth}` : release,
    isPrerelease,
    parts: [major, minor, patch, rank, nth || 0].map(Number),
  }
}

/** Whether a version comes after another. */
export const isAfter = (one: Version, other: Version): boolean => {
  const nth = one.parts.findIndex((part, place) => part !== other.parts[place])
  return nth >= 0 && (one.parts[nth] ?? 0) > (other.parts[nth] ?? 0)
}
