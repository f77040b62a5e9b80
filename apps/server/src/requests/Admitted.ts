import type { AdmittedKey } from "@waybill/store/admission/AdmittedKey"
import type { RequestUser } from "@waybill/store/readmodels/Members"
import type { Verdict } from "@waybill/store/admission/Admission"
import { Context, type Exit } from "effect"
import type { IncomingMessage } from "node:http"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"

/** The key or the dashboard user that a request was admitted for, and the client address. */
export type Admitted = ({ readonly key: AdmittedKey } | { readonly user: RequestUser; readonly session_id: string }) & {
  readonly address: string
}

/** The admission of the request in progress; `undefined` outside /v1, where none is needed. */
export const Admitted = Context.Reference<Admitted | undefined>("@waybill/server/http/Admitted", {
  defaultValue: () => undefined,
})

/** Admissions of requests that the fast path has handed to the normal path, so that each request counts once. */
export const earlierAdmissions = new WeakMap<IncomingMessage, Exit.Exit<Verdict, StoreUnavailable>>()
