export const COSE = "application/cose"

/** Ranges of an Accept header with their qualities, from 0 to 1 (RFC 9110, section 12.5.1). */
const rangesOf = (accept: string): ReadonlyMap<string, number> =>
  new Map(
    accept.split(",").map((part) => {
      const [range = "", ...parameters] = part.split(";").map((each) => each.trim().toLowerCase())
      const quality = parameters.find((each) => each.startsWith("q="))?.slice("q=".length) ?? "1"
      return [range, Number(quality) || 0]
    }),
  )

/** Whether a client that names COSE wants it at least as much as JSON. */
export const prefersCose = (accept = ""): boolean => {
  const ranges = rangesOf(accept)
  const cose = ranges.get(COSE) ?? 0
  const json = ranges.get("application/json") ?? ranges.get("application/*") ?? ranges.get("*/*") ?? 0
  return cose > 0 && cose >= json
}
