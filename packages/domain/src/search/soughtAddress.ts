import * as EmailSearch from "./EmailSearch.ts"

/** Returns the one address that a search asks for, as a recipient or as its only words. */
export const soughtAddress = ({ q, recipient, to = recipient ?? q ?? "" }: EmailSearch.Filters): string | undefined => {
  const address = to.replaceAll('"', "")
  return EmailSearch.isAddress(address) ? address : undefined
}
