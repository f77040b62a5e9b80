/** Who can reach a bound. */
export type Audience = "customer" | "operator"

export interface Bound {
  readonly audience: Audience
  readonly what: string
  /** Name of the constant that `path` declares. */
  readonly constant: string
  readonly path: string
  /** Effect of passing the bound. */
  readonly beyond: string
  /** Printed instead of the declared value, for a table of values. */
  readonly value?: string
}
export interface Group {
  readonly title: string
  readonly bounds: ReadonlyArray<Bound>
}

const boundFor =
  (audience: Audience) =>
  (what: string, constant: string, path: string, beyond: string, value?: string): Bound => ({
    audience,
    what,
    constant,
    path,
    beyond,
    ...(value === undefined ? {} : { value }),
  })
export const customer = boundFor("customer")
export const operator = boundFor("operator")
