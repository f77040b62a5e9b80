import type { Key } from "@waybill/store/admission/Admission"
import type { Standing } from "@waybill/store/readmodels/Members"
import { Context } from "effect"

/** Who was let in at the edge, and from where: a key, or a user of the dashboard. Outside /v1 nobody has to be. */
export type Admitted = ({ readonly key: Key } | { readonly user: Standing; readonly session_id: string }) & {
  readonly address: string
}

export const Admitted = Context.Reference<Admitted | undefined>("@waybill/server/http/Admitted", {
  defaultValue: () => undefined,
})
