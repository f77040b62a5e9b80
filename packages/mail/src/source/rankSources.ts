/**
 * Orders addresses by a hash of message and address. Messages spread evenly over the addresses, and a retry begins at the
 * same one, also after others were added (rendezvous hashing): a greylisting server counts by address.
 */
export const rankSources = <A extends { readonly address: string }>(
  addresses: ReadonlyArray<A>,
  key: string,
): ReadonlyArray<A> =>
  addresses.length < 2
    ? addresses
    : addresses
        .map((each) => ({ each, rank: hash(`${key} ${each.address}`) }))
        .toSorted((one, other) => other.rank - one.rank)
        .map(({ each }) => each)

const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193

/** FNV-1a with the finalizer of MurmurHash3, without which similar texts have similar hashes. */
const hash = (text: string): number => {
  let value = FNV_OFFSET
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), FNV_PRIME)
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return (value ^ (value >>> 16)) >>> 0
}
