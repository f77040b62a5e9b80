import { Context } from "effect"

/** The request of a client whose call of the API was translated from another service's. */
export interface Origin {
  /** Method and path as the client sent them. */
  readonly route: string
  /** Hash of the body as the client sent it. */
  readonly body: string
}

/** The origin of the call in progress; `undefined` if the client called the API itself. */
export const Origin = Context.Reference<Origin | undefined>("@waybill/server/accept/Origin", {
  defaultValue: () => undefined,
})
