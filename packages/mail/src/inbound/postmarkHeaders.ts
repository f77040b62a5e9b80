export interface Header {
  readonly Name: string
  readonly Value: string
}

/** Headers that Postmark gives as fields alone: clients that add both see addresses twice. */
const FIELDS = ["from", "to", "cc", "bcc", "subject", "date", "reply-to"]

/** Returns the headers that Postmark shows of a mail. */
export const postmarkHeaders = (
  findings: ReadonlyArray<Header>,
  headers: ReadonlyArray<Header>,
): ReadonlyArray<Header> => {
  const hidden = new Set([...FIELDS, ...findings.map(({ Name }) => Name.toLowerCase())])
  return [...findings, ...headers.filter(({ Name }) => !hidden.has(Name.toLowerCase()))]
}
