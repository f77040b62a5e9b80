/** An object of unknown type. Messages come from plain JavaScript too, so no field has a type that could be relied on. */
export type Data = Readonly<Record<string, unknown>>

export const isData = (value: unknown): value is Data =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)

export const isSet = (value: unknown): boolean =>
  value !== undefined &&
  value !== null &&
  value !== false &&
  value !== "" &&
  !(Array.isArray(value) && value.length === 0)

export const listOf = (value: unknown): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value : isSet(value) ? [value] : []
