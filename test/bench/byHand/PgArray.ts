// Arrays as Postgres takes them in its binary form: it parses no text of them, and reads the bytes of bodies as they are.

const [TEXT, BYTEA, UUID, BIGINT] = [25, 17, 2950, 20]
/** Dimensions, whether there are nulls, type, and the length and first index of the one dimension. */
const HEAD_BYTES = 20
const UUID_BYTES = 16
const BIGINT_BYTES = 8

const array = (type: number, count: number, bytes: number): Buffer => {
  const out = Buffer.allocUnsafe(HEAD_BYTES + 4 * count + bytes)
  for (const [nth, value] of [1, 0, type, count, 1].entries()) out.writeInt32BE(value, 4 * nth)
  return out
}

export const texts = (values: ReadonlyArray<string>): Buffer => {
  let bytes = 0
  for (const value of values) bytes += Buffer.byteLength(value)
  const out = array(TEXT, values.length, bytes)
  let at = HEAD_BYTES
  for (const value of values) {
    const length = out.write(value, at + 4)
    at = out.writeInt32BE(length, at) + length
  }
  return out
}

export const byteas = (values: ReadonlyArray<Uint8Array>): Buffer => {
  let bytes = 0
  for (const { length } of values) bytes += length
  const out = array(BYTEA, values.length, bytes)
  let at = HEAD_BYTES
  for (const value of values) {
    at = out.writeInt32BE(value.length, at)
    out.set(value, at)
    at += value.length
  }
  return out
}

/** Of 32 hexadecimal digits each. */
export const uuids = (values: ReadonlyArray<string>): Buffer => {
  const out = array(UUID, values.length, UUID_BYTES * values.length)
  let at = HEAD_BYTES
  for (const value of values) {
    at = out.writeInt32BE(UUID_BYTES, at)
    at += out.write(value, at, "hex")
  }
  return out
}

/** Of eight bytes each, the first of the given ones: keys of the log are the first bytes of hashes. */
export const bigints = (values: ReadonlyArray<Buffer>): Buffer => {
  const out = array(BIGINT, values.length, BIGINT_BYTES * values.length)
  let at = HEAD_BYTES
  for (const value of values) {
    at = out.writeInt32BE(BIGINT_BYTES, at)
    at += value.copy(out, at, 0, BIGINT_BYTES)
  }
  return out
}
