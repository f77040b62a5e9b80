/**
 * Describes what is wrong with the SPF records of a name; undefined when the one record there allows the expected
 * mechanism.
 */
export const mistake = (expected: string, found: ReadonlyArray<string>): string | undefined => {
  const policies = found.filter(isSpf)
  const [only] = policies
  if (only === undefined) return "no TXT record here begins with v=spf1"
  // RFC 7208 §4.5: more than one is a permanent error for every receiver.
  if (policies.length > 1) return `${policies.length} SPF records stand at this name, only one may; merge them`
  const terms = termsOf(only)
  const end = terms.findIndex((term) => /^[-~?+]?all$/u.test(term))
  const heard = end < 0 ? terms : terms.slice(0, end)
  for (const term of termsOf(expected)) {
    if (/^[-~?+]?all$/u.test(term)) continue
    if (heard.includes(term) || heard.includes(`+${term}`)) continue
    if (terms.includes(term)) return `${term} stands after all, where nobody reads it`
    return `${term} is missing`
  }
  return undefined
}

export const isSpf = (text: string): boolean => /^v=spf1(?: |$)/iu.test(text.trim())

const termsOf = (text: string): ReadonlyArray<string> => text.trim().toLowerCase().split(/\s+/u).slice(1)
