import type { AdmittedKey } from "@waybill/store/admission/AdmittedKey"
import type { RequestUser } from "@waybill/store/readmodels/Members"
import { Context } from "effect"

/** The key or the dashboard user that a request was admitted for, and the client address. */
export type Admitted = ({ readonly key: AdmittedKey } | { readonly user: RequestUser; readonly session_id: string }) & {
  readonly address: string
}

/** The admission of the request in progress; `undefined` outside /v1, where none is needed. */
export const Admitted = Context.Reference<Admitted | undefined>("@waybill/server/requests/Admitted", {
  defaultValue: () => undefined,
})
