import { Effect, identity, type Schema } from "effect"
import type { Refusal } from "@waybill/domain/values/Refusal"
import { decodeBody } from "./decodeBody.ts"
import type { Answer, DoorRequest, DoorServices, Params, Route } from "./Door.ts"
import * as Endpoints from "./Endpoints.ts"

interface Options<B, I> extends Partial<Pick<Route, "bucket" | "lists" | "query" | "trial">> {
  readonly endpoint: Route["endpoint"]
  readonly body?: Schema.Codec<B, I>
  /** Prepares a body to be decoded. */
  readonly prepare?: (body: unknown) => unknown
  /** The schema of a body that the handler decodes. */
  readonly ownBody?: Schema.Top
}

/**
 * Makes a route of its method and path and of the endpoint of our own API that it is translated to, in whose rate window it
 * counts. A segment of the path that begins with a colon is a parameter, such as `/emails/:id`.
 */
export const route = <B = unknown, I = unknown>(
  call: `${"DELETE" | "GET" | "PATCH" | "POST" | "PUT"} /${string}`,
  options: Endpoints.Endpoint | Options<B, I>,
  handle: (
    request: DoorRequest & { readonly body: B },
    params: Params,
  ) => Effect.fn.Return<Answer, Refusal, DoorServices>,
): Route => {
  const {
    body,
    endpoint,
    ownBody,
    prepare = identity,
    ...rest
  }: Options<B, I> = typeof options === "string" ? { endpoint: options } : options
  const [method = "", path = ""] = call.split(" ", 2)
  const schema = body ?? ownBody
  const handling = Effect.fnUntraced(handle)
  return {
    method,
    path,
    endpoint,
    bucket: endpoint === undefined ? "other" : Endpoints.bucketOf(endpoint),
    ...(schema === undefined ? {} : { body: schema }),
    handle: (request, params) =>
      body === undefined
        ? handling(request as DoorRequest & { readonly body: B }, params)
        : Effect.flatMap(decodeBody(body, prepare(request.body)), (decoded) =>
            handling({ ...request, body: decoded }, params),
          ),
    ...rest,
  }
}
