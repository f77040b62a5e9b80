import { inRange } from "./range.ts"

/** Severities, lowest first. An unknown severity counts as the highest. */
const SEVERITIES = ["info", "low", "moderate", "high", "critical"]
const WORST_ALLOWED = SEVERITIES.indexOf("moderate")

interface Locked {
  readonly name?: string
  readonly version?: string
  readonly link?: boolean
  readonly dev?: boolean
}

/** The versions of each package, and whether each is used in production. */
export type Packages = ReadonlyMap<string, ReadonlyMap<string, { readonly production: boolean }>>

export const packagesOf = (locks: ReadonlyArray<string>): Packages => {
  const packages = new Map<string, Map<string, { readonly production: boolean }>>()
  for (const lock of locks) {
    const all = (JSON.parse(lock) as { readonly packages: Readonly<Record<string, Locked>> }).packages
    for (const [path, { dev, link, name, version }] of Object.entries(all)) {
      const at = path.lastIndexOf("node_modules/")
      if (at < 0 || link === true || version === undefined) continue
      // An alias is installed under another name.
      const own = name ?? path.slice(at + "node_modules/".length)
      const versions = packages.get(own) ?? new Map<string, { readonly production: boolean }>()
      versions.set(version, { production: dev !== true || versions.get(version)?.production === true })
      packages.set(own, versions)
    }
  }
  return packages
}

interface Advisory {
  readonly severity: string
  readonly title: string
  readonly url: string
  readonly vulnerable_versions: string
}

export interface Found extends Advisory {
  readonly name: string
  readonly versions: ReadonlyArray<string>
  readonly production: boolean
}

const rank = (severity: string): number =>
  SEVERITIES.includes(severity) ? SEVERITIES.indexOf(severity) : SEVERITIES.length

const said = (value: unknown, otherwise: string): string => (typeof value === "string" ? value : otherwise)

/** Returns the advisories that affect installed versions; undefined if the response is not valid. */
export const found = (packages: Packages, answer: unknown): ReadonlyArray<Found> | undefined => {
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) return undefined
  const all: Array<Found> = []
  for (const [name, advisories] of Object.entries(answer)) {
    if (!Array.isArray(advisories)) return undefined
    for (const advisory of advisories as ReadonlyArray<Readonly<Record<string, unknown>>>) {
      if (typeof advisory !== "object" || advisory === null) return undefined
      const vulnerable_versions = said(advisory["vulnerable_versions"], "*")
      const hit = [...(packages.get(name) ?? [])].filter(([version]) => inRange(version, vulnerable_versions))
      if (hit.length === 0) continue
      all.push({
        name,
        vulnerable_versions,
        severity: said(advisory["severity"], "unknown"),
        title: said(advisory["title"], "without a title"),
        url: said(advisory["url"], ""),
        versions: hit.map(([version]) => version),
        production: hit.some(([, { production }]) => production),
      })
    }
  }
  return all.toSorted((a, b) => rank(b.severity) - rank(a.severity) || (a.name < b.name ? -1 : 1))
}

export const isBad = ({ severity }: Advisory): boolean => rank(severity) > WORST_ALLOWED
