/**
 * Describes what is wrong with the SPF records of a name; undefined when the one record there allows the expected
 * mechanism.
 */
export const mistake = (expected: string, found: ReadonlyArray<string>): string | undefined => {
  const policies = found.filter(isSpf)
  const [only] = policies
  if (only === undefined) return "no TXT record begins with v=spf1"
  // RFC 7208 §4.5: more than one is a permanent error for every receiver.
  if (policies.length > 1) return `${policies.length} SPF records found, only one is allowed; merge them`
  const terms = termsOf(only)
  const end = terms.findIndex((term) => /^[-~?+]?all$/u.test(term))
  const effective = end < 0 ? terms : terms.slice(0, end)
  for (const term of termsOf(expected)) {
    if (/^[-~?+]?all$/u.test(term)) continue
    if (effective.includes(term) || effective.includes(`+${term}`)) continue
    if (terms.includes(term)) return `${term} comes after the all mechanism, so it is ignored`
    return `${term} is missing`
  }
  return undefined
}

export const isSpf = (text: string): boolean => /^v=spf1(?: |$)/iu.test(text.trim())

const termsOf = (text: string): ReadonlyArray<string> => text.trim().toLowerCase().split(/\s+/u).slice(1)
