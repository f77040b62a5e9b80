/** Rows of a QR code (ISO/IEC 18004); true is dark. */
export type QrCode = ReadonlyArray<ReadonlyArray<boolean>>

/** Versions 1 to 6 at level M, which need no version field: bytes of data in a block, blocks, bytes of correction in a block. */
const VERSIONS = [
  [16, 1, 10],
  [28, 1, 16],
  [44, 1, 26],
  [32, 2, 18],
  [43, 2, 24],
  [27, 4, 16],
] as const
/** Bytes that the mode and the length take. */
const HEAD_BYTES = 2

const MASKS: ReadonlyArray<(x: number, y: number) => boolean> = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
]

/** Encodes a text as bytes, at the level that survives a damage of 15 %; undefined if version 6 is too small for it. */
export const encode = (text: string): QrCode | undefined => {
  const bytes = new TextEncoder().encode(text)
  const index = VERSIONS.findIndex(([data, blocks]) => data * blocks >= bytes.length + HEAD_BYTES)
  const version = VERSIONS[index]
  if (version === undefined) return undefined
  const size = 21 + 4 * index
  const data = dataOf(size, interleaved(bytes, version))
  const codes = MASKS.map((mask, nth): QrCode => {
    const format = formatOf(nth)
    return squares(size, (x, y) => {
      const bit = formatBit(size, x, y)
      if (bit !== undefined) return ((format >> bit) & 1) === 1
      return patternAt(size, x, y) ?? data.has(y * size + x) !== mask(x, y)
    })
  })
  return codes.toSorted((one, other) => penaltyOf(one) - penaltyOf(other))[0]
}

const squares = (size: number, at: (x: number, y: number) => boolean): QrCode =>
  Array.from({ length: size }, (_, y) => Array.from({ length: size }, (_, x) => at(x, y)))

/** The square of a fixed pattern; undefined where data stands. */
const patternAt = (size: number, x: number, y: number): boolean | undefined => {
  const far = size - 7
  for (const [left, top] of [
    [0, 0],
    [far, 0],
    [0, far],
  ] as const) {
    const ring = Math.max(Math.abs(x - left - 3), Math.abs(y - top - 3))
    if (ring <= 4) return ring !== 2 && ring !== 4
  }
  if (x === 6 || y === 6) return (x + y) % 2 === 0
  const ring = Math.max(Math.abs(x - far), Math.abs(y - far))
  if (size > 21 && ring <= 2) return ring !== 1
  // The dark module.
  return x === 8 && y === size - 8 ? true : undefined
}

/** Number of the bit of the format that stands here, in either of its copies. */
const formatBit = (size: number, x: number, y: number): number | undefined => {
  if (x === 8 && y <= 8 && y !== 6) return y < 6 ? y : y - 1
  if (y === 8 && x < 8 && x !== 6) return x === 7 ? 8 : 14 - x
  if (y === 8 && x >= size - 8) return size - 1 - x
  return x === 8 && y >= size - 7 ? y - size + 15 : undefined
}

/** Level M, the mask, and the BCH code of both. */
const formatOf = (mask: number): number => {
  let rest = mask
  for (let i = 0; i < 10; i++) rest = (rest << 1) ^ ((rest >> 9) * 0x537)
  return ((mask << 10) | rest) ^ 0x5412
}

/** Places of the squares that are dark before the mask: two columns at a time from the right, up and down in turns. */
const dataOf = (size: number, bytes: ReadonlyArray<number>): ReadonlySet<number> => {
  const dark = new Set<number>()
  let bit = 0
  let isUp = true
  for (let right = size - 1; right > 0; right -= right === 8 ? 3 : 2) {
    for (let row = 0; row < size; row++) {
      const y = isUp ? size - 1 - row : row
      for (const x of [right, right - 1]) {
        if (patternAt(size, x, y) !== undefined || formatBit(size, x, y) !== undefined) continue
        if ((((bytes[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1) === 1) dark.add(y * size + x)
        bit++
      }
    }
    isUp = !isUp
  }
  return dark
}

const interleaved = (bytes: Uint8Array, [perBlock, blocks, correction]: (typeof VERSIONS)[number]) => {
  // Four bits of mode and eight of length, so each byte is split in halves.
  const halves = [4, bytes.length >> 4, bytes.length & 15, ...[...bytes].flatMap((byte) => [byte >> 4, byte & 15]), 0]
  const data = Array.from({ length: perBlock * blocks }, (_, i) => {
    const padding = (i - halves.length / 2) % 2 === 0 ? 0xec : 0x11
    return i * 2 < halves.length ? ((halves[i * 2] ?? 0) << 4) | (halves[i * 2 + 1] ?? 0) : padding
  })
  const parts = Array.from({ length: blocks }, (_, nth) => data.slice(nth * perBlock, (nth + 1) * perBlock))
  const turns = (lists: ReadonlyArray<ReadonlyArray<number>>, length: number) =>
    Array.from({ length }, (_, i) => lists.map((list) => list[i] ?? 0)).flat()
  return [
    ...turns(parts, perBlock),
    ...turns(
      parts.map((part) => correctionOf(part, correction)),
      correction,
    ),
  ]
}

const multiply = (a: number, b: number): number => {
  let product = 0
  for (let bit = 7; bit >= 0; bit--) product = (product << 1) ^ ((product >> 7) * 0x11d) ^ (((b >> bit) & 1) * a)
  return product
}

/** Reed-Solomon code of a block: the remainder after division by the generator of `length` roots. */
const correctionOf = (block: ReadonlyArray<number>, length: number): ReadonlyArray<number> => {
  let generator = [1]
  let root = 1
  for (let i = 0; i < length; i++) {
    const power = root
    generator = [...generator, 0].map((each, nth) => each ^ multiply(generator[nth - 1] ?? 0, power))
    root = multiply(root, 2)
  }
  return block.reduce<ReadonlyArray<number>>(
    ([first = 0, ...rest], byte) => {
      const factor = byte ^ first
      return [...rest, 0].map((each, nth) => each ^ multiply(generator[nth + 1] ?? 0, factor))
    },
    Array.from({ length }, () => 0),
  )
}

/** How hard a code is to read: long runs, blocks of one colour, false finder patterns, too much of one colour. */
const penaltyOf = (code: QrCode): number => {
  const rows = code.map((row) => row.map((isDark) => (isDark ? "1" : "0")).join(""))
  const columns = rows.map((_, x) => rows.map((row) => row[x]).join(""))
  const lines = [...rows, ...columns]
  const runs = lines.flatMap((line) => line.match(/(.)\1{4,}/gu) ?? []).reduce((sum, run) => sum + run.length - 2, 0)
  const finders = lines.flatMap((line) => [...line.matchAll(/(?=10111010000|00001011101)/gu)]).length
  let blocks = 0
  for (const [y, row] of rows.entries())
    for (let x = 1; x < row.length; x++)
      if (y > 0 && new Set([row[x - 1], row[x], rows[y - 1]?.[x - 1], rows[y - 1]?.[x]]).size === 1) blocks++
  const dark = code.flat().filter(Boolean).length / code.length ** 2
  return runs + 40 * finders + 3 * blocks + 10 * Math.floor(Math.abs(dark - 0.5) * 20)
}
