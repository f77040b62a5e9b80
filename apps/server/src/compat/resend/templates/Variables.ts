import type * as VariableSchema from "@waybill/domain/template/VariableSchema"
import * as Checks from "@waybill/api/schemas/Checks"
import { Schema } from "effect"

/** Variables of a template, as at Resend. */
export const MAX_VARIABLES = 50

/** A variable with its fallback. The names of older packages are read, too. */
const Variable = Schema.Struct({
  key: Schema.String.check(
    Schema.isPattern(/^[A-Za-z_]\w{0,49}$/u, { message: "must have at most 50 letters, digits and _" }),
  ),
  type: Schema.optional(Schema.Literals(["string", "number"])),
  fallback_value: Schema.optional(Schema.NullOr(Schema.Union([Schema.String, Schema.Number]))),
  fallbackValue: Schema.optional(Schema.NullOr(Schema.Union([Schema.String, Schema.Number]))),
})
export const Variables = Schema.Array(Variable).check(Checks.items(0, MAX_VARIABLES, "variables"))
type Variables = typeof Variables.Type

/** Returns the schema that demands what has no fallback. */
export const schemaOf = (variables: Variables) => {
  const fallbackOf = ({ fallbackValue, fallback_value }: (typeof variables)[number]) =>
    fallback_value ?? fallbackValue ?? undefined
  return {
    type: "object",
    properties: Object.fromEntries(
      variables.map((variable) => {
        const fallback = fallbackOf(variable)
        return [
          variable.key,
          { type: variable.type ?? "string", ...(fallback === undefined ? {} : { default: fallback }) },
        ]
      }),
    ),
    required: variables.filter((variable) => fallbackOf(variable) === undefined).map(({ key }) => key),
  }
}

/** Returns the variables of a schema as Resend lists them. Those of other types are texts. */
export const listed = (schema: unknown, created_at: string, updated_at: string) => {
  const { properties = {} } = (schema ?? {}) as VariableSchema.VariableSchema
  return Object.entries(properties).map(([key, { default: fallback, type }]) => ({
    key,
    type: type === "number" || type === "integer" ? "number" : "string",
    fallback_value: typeof fallback === "string" || typeof fallback === "number" ? fallback : null,
    created_at,
    updated_at,
  }))
}
