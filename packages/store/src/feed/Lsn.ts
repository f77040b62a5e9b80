/** A position in the write-ahead log (log sequence number) as a comparable number. */
export type Lsn = bigint

export const LOWEST: Lsn = 0n
export const HIGHEST: Lsn = 0xffff_ffff_ffff_ffffn

const FORMAT = /^([0-9a-f]{1,8})\/([0-9a-f]{1,8})$/iu

/** Parses the format of Postgres, two hexadecimal halves; undefined for any other text. */
export const parse = (text: string | null | undefined): Lsn | undefined => {
  const [, high, low] = FORMAT.exec(text ?? "") ?? []
  return high === undefined || low === undefined ? undefined : (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`)
}

export const max = (one: Lsn, other: Lsn): Lsn => (one > other ? one : other)
