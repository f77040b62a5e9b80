import { Schema } from "effect"

/** Query parameter of the endpoints whose rule for test keys is `own mode`. */
export const query = {
  livemode: Schema.optionalKey(
    Schema.Literals(["true", "false"]).annotate({
      description: "`false` for test mail. A key has one mode and needs no parameter; a dashboard session has both",
    }),
  ),
}

/** Field of the records that exist for live and for test mail. */
export const field = (description: string) => Schema.Boolean.annotate({ description })
