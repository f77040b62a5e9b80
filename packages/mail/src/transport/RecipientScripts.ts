import type { Script } from "@waybill/domain/email/Script"
import { Context } from "effect"

/** Scripts by address, in lower case, for mail without a script of its own. */
export type Scripts = ReadonlyMap<string, Script>

/** Empty except in an instance of a test suite, which sets them while it runs. */
export const RecipientScripts = Context.Reference<Scripts>("@waybill/mail/transport/RecipientScripts", {
  defaultValue: () => new Map(),
})
