/** A tracked link: two ids, a signature, and the address that it leads to. */
const TRACKED = /\/t\/c\/[0-9a-z]{52}[\w-]{22}([\w-]+)$/u

/** Returns the address that a link leads to: of a tracked one, where its reader arrives. */
export const destinationOf = (url: string): string => {
  const [, destination] = TRACKED.exec(url) ?? []
  return destination === undefined ? url : Buffer.from(destination, "base64url").toString()
}
