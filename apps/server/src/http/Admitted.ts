import type { Key } from "@waybill/store/Admission"
import { Context } from "effect"

/** Who was let in at the edge, and from where. Outside /v1 nobody has to be. */
export interface Admitted {
  readonly key: Key
  readonly address: string
}

export const Admitted = Context.Reference<Admitted | undefined>("@waybill/server/http/Admitted", {
  defaultValue: () => undefined,
})
