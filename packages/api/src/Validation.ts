import { HttpApiMiddleware } from "effect/http-api"
import * as ApiError from "./ApiError.ts"

/** What a request can fail before any handler sees it: its body, its parameters, and we ourselves. */
export class Validation extends HttpApiMiddleware.Service<Validation>()("@waybill/api/Validation", {
  error: [
    ApiError.BadRequest,
    ApiError.NotFound,
    ApiError.Internal,
    ApiError.Unavailable,
    ApiError.Unauthorized,
    ApiError.Forbidden,
  ],
}) {}
