/** A place in the write-ahead log, as a number that can be compared. */
export type Lsn = bigint

export const LOWEST: Lsn = 0n
export const HIGHEST: Lsn = 0xffff_ffff_ffff_ffffn

const WRITTEN = /^([0-9a-f]{1,8})\/([0-9a-f]{1,8})$/iu

/** As Postgres writes it: two halves in hexadecimal. */
export const parse = (text: string | null | undefined): Lsn | undefined => {
  const [, high, low] = WRITTEN.exec(text ?? "") ?? []
  return high === undefined || low === undefined ? undefined : (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`)
}

export const format = (lsn: Lsn): string =>
  `${(lsn >> 32n).toString(16).toUpperCase()}/${(lsn & 0xffff_ffffn).toString(16).toUpperCase()}`

export const max = (one: Lsn, other: Lsn): Lsn => (one > other ? one : other)
