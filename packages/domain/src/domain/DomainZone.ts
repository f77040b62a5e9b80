/**
 * Returns a name relative to its zone, as the forms of DNS providers want it; `null` if the zone is unknown or does not hold
 * the name. `@` is the zone itself.
 */
export const hostIn = (zone: string | null, name: string): string | null => {
  if (zone === null) return null
  if (name === zone) return "@"
  return name.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : null
}

/** Returns the zone of a domain: the one that DNS told, or the domain itself if no other zone could hold it. */
export const zoneOf = ({ name, zone }: { readonly name: string; readonly zone?: string }): string | null =>
  zone ?? (name.split(".").length <= 2 ? name : null)
