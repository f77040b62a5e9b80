import { WaybillError } from "./WaybillError.ts"

/**
 * Writes a body as JSON. Refuses an invalid `Date`, which JSON writes as null: a message would then be sent at once
 * rather than at its time.
 */
export const encodeBody = (body: unknown): string =>
  JSON.stringify(body, function (this: Readonly<Record<string, unknown>>, name: string, value: unknown) {
    if (value === null && this[name] !== null) throw WaybillError.invalid(name, "is an invalid Date")
    return value
  })
