import { Schema } from "effect"
import * as Text from "../values/Text.ts"

/** The public half of a DKIM key, and the name under which the sealed private half is stored. */
export const DkimKey = Schema.Struct({
  selector: Schema.String.check(Schema.isPattern(/^[a-z0-9]{1,63}$/u)),
  algorithm: Schema.Literals(["rsa", "ed25519"]),
  /** The value of the `p=` tag. */
  public_key: Text.Stored,
  key_ref: Text.Stored,
})
export type DkimKey = typeof DkimKey.Type
